import js from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const configurations = ['*.config.ts', '*.config.js', '.dependency-cruiser.cjs'];

/** What decisions may not look at: they get the time, chance and results as values. */
const effects = [
  'performance',
  'Date',
  'crypto',
  'process',
  'globalThis',
  'setTimeout',
  'setInterval',
  'setImmediate',
]
  .concat(['queueMicrotask', 'fetch', 'Promise', 'window', 'document', 'console', 'Buffer'])
  .map((name) => ({ name, message: 'core is pure: pass the value in.' }));

export default tseslint.config(
  { ignores: ['node_modules', 'out', 'dist', '.runtime', 'test-results', 'coverage', 'test/fixtures'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true } },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['core', 'main', 'main/preload', 'renderer', 'test', 'scripts'].map(
          (room) => `${room}/tsconfig.json`,
        ),
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // A default makes an index that is not there visible; the rule cannot know what a foreign value is.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      eqeqeq: 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: 'TSEnumDeclaration', message: 'A union of literals says the same and costs nothing.' },
      ],
      'max-lines': ['error', { max: 400 }],
      'no-control-regex': 'off',
    },
  },
  {
    files: ['core/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': ['error', ...effects],
      'no-restricted-properties': ['error', { object: 'Math', property: 'random', message: 'core is pure.' }],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' },
        { selector: ':function[async=true]', message: 'core is pure: no promises.' },
        { selector: 'AwaitExpression', message: 'core is pure: no promises.' },
      ],
    },
  },
  {
    files: ['renderer/**/*.ts', 'renderer/**/*.tsx'],
    ...reactHooks.configs.flat.recommended,
    rules: {
      ...reactHooks.configs.flat.recommended.rules,
      // Tells what React's compiler would skip; it is not used here.
      'react-hooks/incompatible-library': 'off',
    },
  },
  {
    files: ['main/**/*.ts', 'core/**/*.ts', 'renderer/**/*.ts', 'renderer/**/*.tsx'],
    rules: { 'no-console': 'error' },
  },
  {
    files: ['**/*.test.ts', '**/*.test.tsx', 'test/**/*.ts', 'test/**/*.tsx'],
    rules: {
      // Matchers such as expect.objectContaining are any by their own declaration.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'no-console': 'off',
    },
  },
  {
    files: configurations,
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['**/*.d.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['**/*.mjs', '**/*.js', '**/*.cjs'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'performance',
          'Buffer',
          'setTimeout',
          'clearTimeout',
          'setInterval',
          'clearInterval',
          'URL',
          'module',
        ].map((name) => [name, 'readonly']),
      ),
    },
    rules: { eqeqeq: 'error', 'no-unused-vars': ['error', { argsIgnorePattern: '^_' }] },
  },
);
