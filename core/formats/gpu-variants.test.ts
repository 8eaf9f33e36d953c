import { describe, expect, test } from 'vitest';
import { gpuVariantOf } from './gpu-variants.js';

describe('the variant of a product name', () => {
  test.each([
    ['NVIDIA GeForce RTX 4090', 'rtx-4090'],
    ['NVIDIA GeForce RTX 3080', 'rtx-3080'],
    ['NVIDIA GeForce RTX 4090 Laptop GPU', 'rtx-4090-laptop'],
    ['GeForce GTX 1070 Ti', 'gtx-1070-ti'],
    ['GeForce GT 730', 'gt-730'],
    ['NVIDIA H100 80GB HBM3', 'h100'],
    ['NVIDIA H100 PCIe', 'h100'],
    ['NVIDIA H200', 'h200'],
    ['NVIDIA GH200 480GB', 'gh200'],
    ['NVIDIA A100-SXM4-80GB', 'a100-80gb'],
    ['NVIDIA A100-PCIE-40GB', 'a100-40gb'],
    ['NVIDIA A100 80GB PCIe', 'a100-80gb'],
    ['Tesla V100-SXM2-16GB', 'v100-16gb'],
    ['Tesla K80', 'k80'],
    ['NVIDIA A10G', 'a10g'],
    ['NVIDIA L40S', 'l40s'],
    ['NVIDIA GB10', 'gb10'],
    ['Quadro RTX 6000', 'rtx-6000'],
    ['NVIDIA RTX A6000', 'rtx-a6000'],
    ['NVIDIA RTX 6000 Ada Generation', 'rtx-6000-ada'],
    ['NVIDIA RTX 4000 SFF Ada Generation', 'rtx-4000-sff-ada'],
    ['NVIDIA TITAN RTX', 'titan-rtx'],
    ['Graphics Device', 'graphics-device'],
    ['NVIDIA', 'nvidia'],
    ['', 'unknown'],
  ])('%s is %s', (name, variant) => {
    expect(gpuVariantOf(name)).toBe(variant);
  });
});
