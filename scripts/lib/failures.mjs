/** What failed in this run, so that the last lines of a long output name it again. */

/** @type {string[]} */
const said = [];
let stage = '';

/** @param {string} name Whose failures the next ones are. */
export function failuresOf(name) {
  stage = name;
}

/** Prints that something failed, and keeps it. @param {string} what */
export function tellFailure(what) {
  console.log(`  FAILED  ${what}`);
  said.push(`${stage}: ${what}`);
}

export function repeatFailures() {
  for (const what of said) console.log(`FAILED  ${what}`);
}
