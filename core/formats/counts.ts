/** Whole numbers as people read them, without a formatter: the engine's first one costs a start more than the words it is for. */

/** `1,234`. */
export function formatWhole(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
