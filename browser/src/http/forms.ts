/** Checks the forms of responses, as the Python client does by its types. */

/**
 * a text: the first letters of the allowed types ("z": null); a pattern of a text; a constant; a list of alternatives;
 * or an object with the forms of its members ("[]": the form of a list's members; "{}": that of all members of an
 * object)
 */
export type Form = string | RegExp | boolean | Form[] | { [member: string]: Form };

/** Whether a value has a form. Numbers are whole and exact, and further members of objects are ignored. */
export function fits(value: unknown, form: Form): boolean {
  if (typeof value === "number" && !Number.isSafeInteger(value)) return false;
  if (typeof form === "string") return form.includes(value === null ? "z" : (typeof value)[0]);
  if (typeof form === "boolean") return value === form;
  if (form instanceof RegExp) return typeof value === "string" && form.test(value);
  if (Array.isArray(form)) return form.some((it) => fits(value, it));
  if ("[]" in form) return Array.isArray(value) && value.every((it) => fits(it, form["[]"]));
  if ("{}" in form) return isObject(value) && Object.values(value).every((it) => fits(it, form["{}"]));
  return isObject(value) && Object.entries(form).every(([name, it]) => fits(value[name], it));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return Object(value) === value && !Array.isArray(value);
}
