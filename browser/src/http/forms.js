/** Checks the forms of answers, as the types of the Python client do. */

/**
 * @typedef {string | RegExp | boolean | any[] | Record<string, any>} Form the first letters of the types that a value may
 *   have ("z": null), the pattern of a text, a constant, a choice of forms, the members of an object or, as "[]", those
 *   of a list
 */

/**
 * Whether a value has a form. Other members of objects are ignored.
 *
 * @param {any} value
 * @param {Form} form
 * @returns {boolean}
 */
export function fits(value, form) {
  if (typeof form === "string") return form.includes(value === null ? "z" : (typeof value)[0]);
  if (typeof form === "boolean") return value === form;
  if (form instanceof RegExp) return typeof value === "string" && form.test(value);
  if (Array.isArray(form)) return form.some((it) => fits(value, it));
  if ("[]" in form) return Array.isArray(value) && value.every((it) => fits(it, form["[]"]));
  return Object(value) === value && Object.entries(form).every(([name, it]) => fits(value[name], it));
}
