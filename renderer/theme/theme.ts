/** Mantine dressed in the window's own tokens, so that its parts and ours look as one. */
import {
  createTheme,
  defaultVariantColorsResolver,
  type CSSVariablesResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from '@mantine/core';

/** Iris blue, light to dark. The tokens name the shades used for text and lines. */
const iris: MantineColorsTuple = [
  '#eeeffc',
  '#dcdef8',
  '#b9bdf2',
  '#9298f5',
  '#7a80e6',
  '#6066d8',
  '#4a50c8',
  '#3c41ad',
  '#31358c',
  '#26296b',
];

/** Mantine's dark surfaces, in the shades of the dark tokens: text, muted, lines, raised, body. */
const dark: MantineColorsTuple = [
  '#e4e5e9',
  '#c3c5cc',
  '#a3a6b0',
  '#9598a2',
  '#484b54',
  '#303238',
  '#222429',
  '#1b1c20',
  '#151619',
  '#101114',
];

/** Filled buttons have the accent, or the colour of danger, and pressed ones the accent's text, readable on what is behind it in both themes. */
const variantColorResolver: VariantColorsResolver = (input) => {
  const base = defaultVariantColorsResolver(input);
  const accent = input.color === undefined || input.color === 'iris';
  if (input.variant === 'light' && accent) {
    return {
      ...base,
      background: 'var(--iris-accent-soft)',
      hover: 'var(--iris-accent-soft)',
      color: 'var(--iris-accent)',
    };
  }
  if (input.variant !== 'filled') return base;
  if (input.color === 'danger') {
    return {
      ...base,
      background: 'var(--iris-danger)',
      hover: 'var(--iris-danger-hover)',
      color: 'var(--iris-danger-text)',
    };
  }
  if (!accent) return base;
  return {
    ...base,
    background: 'var(--iris-accent)',
    hover: 'var(--iris-accent-hover)',
    color: 'var(--iris-accent-text)',
  };
};

export const theme = createTheme({
  variantColorResolver,
  fontFamily: 'var(--iris-font)',
  fontFamilyMonospace: 'var(--iris-mono)',
  headings: { fontFamily: 'var(--iris-font)', fontWeight: '600' },
  fontSizes: { xs: '12px', sm: '13px', md: '13px', lg: '14px', xl: '16px' },
  spacing: { xs: '6px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  colors: { iris, dark },
  primaryColor: 'iris',
  primaryShade: { light: 6, dark: 3 },
  autoContrast: true,
  defaultRadius: 4,
  focusRing: 'auto',
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { size: 26, variant: 'subtle', color: 'gray' } },
    TextInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    Autocomplete: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs' } },
    MultiSelect: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Radio: { defaultProps: { size: 'xs' } },
    Switch: { defaultProps: { size: 'xs' } },
    SegmentedControl: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { openDelay: 400, withArrow: false, fz: 12 } },
    Modal: {
      defaultProps: {
        centered: true,
        transitionProps: { duration: 150 },
        overlayProps: { backgroundOpacity: 0.35 },
      },
    },
    Menu: {
      defaultProps: {
        shadow: 'md',
        withInitialFocusPlaceholder: false,
        transitionProps: { duration: 0 },
        withinPortal: true,
      },
    },
    Popover: { defaultProps: { shadow: 'md', transitionProps: { duration: 0 } } },
  },
});

const shared = {
  '--mantine-color-body': 'var(--iris-bg)',
  '--mantine-color-text': 'var(--iris-text)',
  '--mantine-color-dimmed': 'var(--iris-text-muted)',
  '--mantine-color-placeholder': 'var(--iris-text-faint)',
  '--mantine-color-default': 'var(--iris-bg-field)',
  '--mantine-color-default-hover': 'var(--iris-bg-hover)',
  '--mantine-color-default-color': 'var(--iris-text)',
  '--mantine-color-default-border': 'var(--iris-line-strong)',
  '--mantine-color-error': 'var(--iris-failed)',
  '--mantine-color-anchor': 'var(--iris-accent)',
  '--mantine-primary-color-filled': 'var(--iris-accent)',
  '--mantine-primary-color-filled-hover': 'var(--iris-accent-hover)',
  '--mantine-primary-color-contrast': 'var(--iris-accent-text)',
};

export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: shared,
  dark: shared,
});
