/**
 * How much of something a test tries that is left to chance: a little at every change, and much at night, by `npm run test:long`.
 * What the little may not see, the long one has to find.
 */
export const amount = (short: number, long: number): number => (process.env.TEST_LONG === '1' ? long : short)
