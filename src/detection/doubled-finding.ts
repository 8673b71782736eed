import { duration, isoTime, MINUTE, number } from '../lib/index.ts'
import type { Bursts } from './bursts-now.ts'
import { surprise } from './false-alarms.ts'
import { passing } from './passing.ts'
import type { Finding } from './verdict.ts'
import { DOUBLED, type Doubling } from './volume-doubling.ts'

/** The finding about an event whose tag seems to fire twice. */
export function doubledFinding(name: string, doubling: Doubling, { burst }: Bursts): Finding {
  const { measured, model, chance, limit, others, since, covered, repeats } = doubling
  const expected = model.mean
  const ratio = measured / expected
  const times = ratio > TWICE.least && ratio < TWICE.most ? 'twice' : `${number(Math.round(ratio * 10) / 10)} times`
  return {
    subject: { event_name: name },
    status: 'warning',
    message: `“${name}” came ${times} as often as usual for its visits: ${number(measured)} in ${duration(covered)}, usually ${number(Math.round(expected))}${atATime(repeats)}: does a tag fire twice?`,
    measured,
    expected,
    band: { low: null, high: passing({ model, limit }, { ratio: 1 / DOUBLED.least }).high },
    since: isoTime(since),
    evidence: {
      kind: 'doubled',
      window_minutes: covered / MINUTE,
      ratio,
      others_ratio: others,
      ...repeatEvidence(repeats),
      ...surprise(chance, limit),
      burst_size: burst,
    },
  }
}

/** E.g. `, two at a time in 21 of 22 minutes`. */
function atATime(repeats: Doubling['repeats']): string {
  if (repeats === null) return ''
  const words = repeats.times === 2 ? 'two' : 'three'
  return `, ${words} at a time in ${number(multiplesOf(repeats))} of ${number(repeats.minutes)} minutes`
}

const multiplesOf = ({ times, twos, threes }: NonNullable<Doubling['repeats']>): number => (times === 2 ? twos : threes)

const repeatEvidence = (repeats: Doubling['repeats']) =>
  repeats === null
    ? {}
    : { times: repeats.times, minutes_with_any: repeats.minutes, minutes_with_multiples: multiplesOf(repeats) }

/** Ratios that the message calls “twice”. */
const TWICE = { least: 1.9, most: 2.1 } as const
