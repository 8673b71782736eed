import { asError, Closers } from '../../src/lib/index.ts'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import { Random } from '../../testkit/random.ts'
import type { Fault, Stage, Workshop } from './fault.ts'
import type { Balance } from './ledger.ts'

/** Acknowledged requests before a fault strikes, at most; another number each round. */
const BEFORE = { least: 20, most: 200 } as const
/** … and after the service has come back. */
const AFTER = 30

export interface RoundOutcome extends Balance {
  recoveryMs: number
}

export interface FaultOutcome {
  fault: Fault
  rounds: RoundOutcome[]
  /** Rounds that broke the promise or could not be played to their end. */
  failures: string[]
  /** Why it was not done, if it was not. */
  skipped?: string
  note?: string
}

export interface RoundsOptions {
  seed: number
  first: number
  rounds: number
  newFolder: Workshop['newFolder']
  postgres: Workshop['postgres']
  /** Ends what a fault had begun, also when the whole run is called off. */
  closers: Closers
  say: (line: string) => void
}

/** Plays the rounds of a fault on one service. After one that fails no other is played: the state is not to be trusted. */
export async function playFault(fault: Fault, options: RoundsOptions): Promise<FaultOutcome> {
  const outcome: FaultOutcome = { fault, rounds: [], failures: [] }
  const missing = fault.missing?.()
  if (missing !== undefined) return { ...outcome, skipped: missing }
  const { seed, first, rounds, say, newFolder, postgres } = options
  const workshop: Workshop = { newFolder, postgres, closers: new Closers() }
  options.closers.add(() => workshop.closers.closeAll())
  let round = first
  let stage: Stage | undefined
  try {
    stage = await fault.prepare(workshop)
    for (; round < first + rounds; round++) {
      const played = await playRound(stage, new Random(seedOf(seed, fault.name, round)))
      outcome.rounds.push(played)
      if (played.problems.length > 0) throw new Error(played.problems.join('\n'))
      say(
        `  ${fault.name} ${round}: ${played.acknowledged} acknowledged, ${played.failed} not, ${played.repeated} repeated, back in ${played.recoveryMs.toFixed(0)} ms`,
      )
    }
    await stopped(stage.scene.program)
    const note = stage.note?.(outcome.rounds)
    if (note !== undefined) outcome.note = note
  } catch (thrown) {
    const command = `npm run chaos -- --only ${fault.name} --seed ${seed} --first ${round} --rounds 1`
    const state = (await stage?.scene.state()) ?? ''
    outcome.failures.push(`${fault.name}, round ${round} (${command}): ${asError(thrown).stack}\n${state}`)
    stage?.scene.ledger.abandon()
  } finally {
    await workshop.closers
      .closeAll()
      .catch((thrown) => outcome.failures.push(`${fault.name}: ${asError(thrown).stack}`))
  }
  return outcome
}

/** @throws Error when it does not end as it should */
async function stopped(program: ServerProcess): Promise<void> {
  if (program.isRunning && (await program.stop()) !== 0) throw new Error(program.state())
}

async function playRound({ scene, strike }: Stage, random: Random): Promise<RoundOutcome> {
  const { ledger } = scene
  scene.start(random)
  await ledger.untilAcknowledged(Math.round(random.between(BEFORE.least, BEFORE.most)))
  const endedAt = await strike(random)
  const recoveryMs = await scene.recovery(endedAt)
  await ledger.untilAcknowledged(AFTER)
  await scene.stop()
  await scene.settle()
  return { ...(await scene.close()), recoveryMs }
}

/** Each round has random numbers of its own, so that one can be played without those before it. */
function seedOf(seed: number, fault: string, round: number): number {
  let mixed = seed
  for (const letter of `${fault}/${round}`) mixed = (Math.imul(mixed, 31) + letter.charCodeAt(0)) | 0
  return mixed
}
