const isLong = process.env.TEST_LONG === '1'

/**
 * How much of something a test tries that is left to chance: a little at every change, and much at night, by `npm run test:long`.
 * What the little may not see, the long one has to find.
 */
export const amount = (short: number, long: number): number => (isLong ? long : short)

/** For tests whose subject others look at on every change, and that take a minute of the machine. */
export const AT_NIGHT = { skip: isLong ? false : 'npm run test:long runs it' }
