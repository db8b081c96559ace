/** The host names of this machine, as URL has them; as in the Python client (wire/hosts.py). */
export const THIS_MACHINE = /^(localhost|127(\.\d+){3}|\[::1\]|.*\.localhost)$/;
