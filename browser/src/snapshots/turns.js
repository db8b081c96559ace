/** Runs work one after the other. */

/** @typedef {<T>(work: () => Promise<T>) => Promise<T>} InTurn runs `work` once what was given before has ended */

/** @returns {InTurn} */
export function turns() {
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}
