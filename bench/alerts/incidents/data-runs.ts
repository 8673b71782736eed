import type { Verdict } from '../../../src/detection/index.ts'
import { outcomeOfVerdict, type ProbeOutcome, type SubjectFinding } from '../../../src/probes/index.ts'
import { simulate } from '../../detection/history.ts'
import { Random } from '../../detection/random.ts'
import { replay } from '../../detection/replay.ts'
import { FIRST_JUDGED, RUN_EVERY, SLOTS_AN_HOUR } from '../../detection/world.ts'
import { type Agency, randomAgency } from './causes.ts'

/** What a probe found. */
export interface Run {
  probe: string
  slot: number
  outcome: ProbeOutcome
}

/** So long after the last bad result good ones are of interest: an alert ends after a day without a sight of its subject. */
const KEPT_SLOTS = 26 * SLOTS_AN_HOUR

/**
 * Keeps the runs that alerts may depend on: those that found something, and what follows them. All others were fine, as those that
 * are kept before them were.
 */
export class RunLog {
  readonly runs: Run[] = []
  readonly #badAt = new Map<string, number>()
  readonly #alike = new Map<string, ProbeOutcome>()

  add(probe: string, slot: number, verdict: Verdict): void {
    this.addOutcome(probe, slot, () =>
      small(outcomeOfVerdict(verdict, () => ({ reason: 'learning', message: 'too little came' }))),
    )
  }

  addOutcome(probe: string, slot: number, outcomeOf: () => ProbeOutcome): void {
    const outcome = outcomeOf()
    if (outcome.status !== 'ok') this.#badAt.set(probe, slot)
    if (slot - (this.#badAt.get(probe) ?? Number.NEGATIVE_INFINITY) > KEPT_SLOTS) return
    this.runs.push({ probe, slot, outcome: outcome.status === 'ok' ? this.#once(outcome) : outcome })
  }

  /** Good results are alike by the thousand, and cross from thread to thread as one. */
  #once(outcome: ProbeOutcome): ProbeOutcome {
    const key = JSON.stringify([outcome.reason, outcome.findings?.length, outcome.fine])
    const known = this.#alike.get(key)
    if (known !== undefined) return known
    this.#alike.set(key, { ...outcome, message: 'fine', details: {} })
    return outcome
  }
}

/** Of the details what decides about alerts and incidents; the evidence of 800,000 runs would not fit into memory. */
const small = (outcome: ProbeOutcome): ProbeOutcome => ({
  ...outcome,
  details: {},
  ...(outcome.findings === undefined ? {} : { findings: outcome.findings.map(smallFinding) }),
})

function smallFinding(finding: SubjectFinding): SubjectFinding {
  const [first] = finding.details.findings as Verdict['details']['findings']
  if (first === undefined) return finding
  const { subject, measured, band, evidence } = first
  const { last_seen = null } = evidence
  return { ...finding, details: { findings: [{ subject, measured, band, evidence: { last_seen } }] } }
}

/** From an hour before a fault until four hours after it every run is of interest; else one in three, which takes a third of the time. */
const BEFORE_SLOTS = SLOTS_AN_HOUR
const AFTER_SLOTS = 4 * SLOTS_AN_HOUR
const QUIET_EVERY = 3 * RUN_EVERY

/** What the data probes of one site of an agency find in three weeks: every five minutes around faults, every 15 between them. */
export function dataRuns(agency: Agency, place: number): Run[] {
  const site = agency.sites[place]
  if (site === undefined) throw new Error(`there is no site ${place}`)
  const faults = agency.causes.flatMap((cause) => cause.faults.get(place) ?? [])
  const isQuiet = (slot: number) =>
    !faults.some(({ from, to }) => slot >= from - BEFORE_SLOTS && slot <= to + AFTER_SLOTS)
  const log = new RunLog()
  const history = simulate(site.profile, faults, new Random(agency.seed * 7_919 + place))
  replay(history, log, FIRST_JUDGED, RUN_EVERY, (slot) => slot % QUIET_EVERY !== 0 && isQuiet(slot))
  return log.runs
}

export const dataRunsOf = (seed: number, count: number, place: number): Run[] =>
  dataRuns(randomAgency(seed, count), place)
