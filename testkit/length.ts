const isLong = process.env.TEST_LONG === '1'

/**
 * The number of rounds of a test that relies on chance: few on every change, many at night with `npm run test:long`, which must find what
 * the few may miss.
 */
export const amount = (short: number, long: number): number => (isLong ? long : short)

/** For tests that take a minute and whose subject other tests cover on every change. */
export const AT_NIGHT = { skip: isLong ? false : 'npm run test:long runs it' }

/** The variable with the number that `scripts/test.ts` gives a whole run, from its commit. */
export const TEST_TURN = 'TEST_TURN'
const turn = process.env[TEST_TURN]

/** Whether this run includes the `nth` of `of` turns. At night, and when files are named, it includes all. */
export const isInTurn = (nth: number, of: number): boolean =>
  isLong || turn === undefined || Number(turn) % of === nth % of

/**
 * For tests that take seconds of processor time and cover much the same: a whole run includes one of `of`, chosen by its commit. So one of
 * the next commits finds what breaks, and the same commit finds it again.
 */
export const inTurn = (nth: number, of: number) => ({
  skip: isInTurn(nth, of) ? false : `one run in ${of} runs it, and npm run test:long`,
})
