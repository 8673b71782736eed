const isLong = process.env.TEST_LONG === '1'

/**
 * How much of something a test tries that is left to chance: a little at every change, and much at night, by `npm run test:long`.
 * What the little may not see, the long one has to find.
 */
export const amount = (short: number, long: number): number => (isLong ? long : short)

/** For tests whose subject others look at on every change, and that take a minute of the machine. */
export const AT_NIGHT = { skip: isLong ? false : 'npm run test:long runs it' }

/** The setting by which `scripts/test.ts` numbers a run of everything, by its commit. */
export const TEST_TURN = 'TEST_TURN'
const turn = process.env[TEST_TURN]

/** Whether a run tries the `nth` of so many that take turns; at night, and where someone has named files, it tries all. */
export const isInTurn = (nth: number, of: number): boolean =>
  isLong || turn === undefined || Number(turn) % of === nth % of

/**
 * For tests that take seconds of a processor and look at much the same from several sides: a run of everything takes one of so many, by
 * its commit, so that what breaks is found by one of the next few, and found again by the same.
 */
export const inTurn = (nth: number, of: number) => ({
  skip: isInTurn(nth, of) ? false : `one run in ${of} runs it, and npm run test:long`,
})
