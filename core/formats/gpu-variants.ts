/** Short names of GPU models, as workers advertise them. */

/** Words that do not tell one model from another: vendor, brand, and the word GPU itself. */
const noise = new Set([
  'nvidia',
  'tesla',
  'geforce',
  'quadro',
  'corporation',
  'generation',
  'gpu',
  'with',
  'max-q',
  'design',
]);
/** How a card is attached and which memory chips it has. */
const attachment = /^(pcie?|pci-e|sxm\d*|hbm\d?[a-z]?|ms)$/;
const memorySize = /^\d+gb$/;
/** Models sold with different memory under one name: there the size is a part of the variant. */
const soldInSizes = new Set(['a100', 'v100', 'p100']);

/** `NVIDIA GeForce RTX 4090` is `rtx-4090`, `NVIDIA A100-SXM4-80GB` is `a100-80gb`, `NVIDIA H100 80GB HBM3` is `h100`. */
export function gpuVariantOf(productName: string): string {
  const words = productName
    .toLowerCase()
    .replaceAll(/\((?:tm|r)\)|[™®]/g, '')
    .split(/[\s/_,()]+|-(?=sxm|pci|\d+gb)|(?<=sxm\d|pcie|pci)-/)
    .filter((word) => word !== '' && !noise.has(word) && !attachment.test(word));
  const sized = words.some((word) => soldInSizes.has(word));
  const kept = words.filter((word) => sized || !memorySize.test(word));
  // A name of nothing but such words is better than none.
  const name = kept.length > 0 ? kept : productName.toLowerCase().split(/\s+/);
  return (
    name
      .join('-')
      .replaceAll(/[^a-z0-9.-]+/g, '-')
      .replaceAll(/-+/g, '-')
      .replace(/^-|-$/g, '') || 'unknown'
  );
}
