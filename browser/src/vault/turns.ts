/** Turns: what must not run at the same time runs one after the other. */

export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns what runs work one after the other. */
export function turns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  };
}
