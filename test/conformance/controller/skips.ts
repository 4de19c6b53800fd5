/**
 * What our API server cannot do yet, `subject: case` with the reason. The list only ever shrinks: a case on it that passes
 * fails its test.
 */
export const skipsOfOurServer: Readonly<Record<string, string>> = {};
