import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["**/node_modules/**"] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2025, sourceType: "module", globals: { ...globals.browser, ...globals.node } },
    rules: {
      eqeqeq: "error",
      "no-console": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_", caughtErrors: "none" }],
    },
  },
  {
    files: ["**/sw.js"],
    languageOptions: { sourceType: "script", globals: globals.serviceworker },
  },
  // Without its types: `modules.js` leaves blanks where they were.
  { files: ["build/modules/**"], rules: { "no-irregular-whitespace": "off", "object-shorthand": "off" } },
  { files: ["**/test/**"], rules: { "no-console": "off", "no-loss-of-precision": "off" } },
];
