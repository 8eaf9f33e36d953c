export function openPalette(): void {}

export function Palette(_props: { onHelp(): void }) {
  return null;
}
