import { Type } from 'typebox'
import { duration, HOUR, isoTime, MINUTE, number, SECOND } from '../../lib/index.ts'
import { lastEventAt } from '../../management/index.ts'
import {
  BURN_REACH_MS,
  type Budget,
  type Burn,
  budgetOf,
  burnOf,
  leftInWords,
  readEvidence,
  readSiteDays,
  timesOf,
} from '../../uptime/index.ts'
import { noData } from '../counts/unjudged.ts'
import { defineProbeType, type ProbeOutcome } from '../probe-type.ts'

export const errorBudget = defineProbeType({
  name: 'error_budget',
  title: 'Error budget',
  description: "Whether critical time uses up the site's error budget of 30 days too fast.",
  kind: 'data',
  siteFields: ['slo_target', 'timezone'],
  needs: [['slo_target']],
  config: Type.Object({}, { additionalProperties: false }),
  figure: (value, write) => `${write(value)} times`,
  defaultIntervalSeconds: 300,
  async run({ site, now, store }): Promise<ProbeOutcome> {
    const target = site.slo_target ?? 100
    const watched = { ...site, siteNo: site.site_no, lastEventAt: await lastEventAt(store.read, site.site_no) }
    const days = (await readSiteDays(store.read, [watched], now)).get(site.id) ?? []
    const evidence = await readEvidence(store.read, site, { from: now - BURN_REACH_MS, to: now })
    const budget = budgetOf(target, days)
    const { ok, warning, critical } = timesOf({ from: now - HOUR, to: now }, evidence, true)
    if (ok + warning + critical === 0) {
      const { reason, message } = noData('No other probe of the site has judged anything in the last hour')
      return { status: 'ok', reason, message, details: { findings: [], judged: 0, ...figuresOf(budget) } }
    }
    const burn = burnOf(budget, evidence, now)
    const left = leftInWords(budget)
    if (burn === null) {
      const message = `The error budget of 30 days is ${budget.spent >= budget.budget ? '' : 'fine: '}${left}`
      return { status: 'ok', message, details: { findings: [], judged: 1, ...figuresOf(budget) } }
    }
    return outcomeOf(burn, budget, left, now)
  },
})

function outcomeOf(burn: Burn, budget: Budget, left: string, now: number): ProbeOutcome {
  const times = number(Math.floor(burn.rate * 10) / 10)
  const message = `The error budget burns ${times} times too fast: critical for ${duration(burn.critical)} of the last ${duration(burn.long)}; ${left}`
  const finding = {
    subject: {},
    status: burn.severity,
    message,
    measured: burn.rate,
    expected: 1,
    band: { low: null, high: burn.factor },
    since: isoTime(now - burn.long),
    evidence: { window_minutes: burn.long / MINUTE, critical_minutes: Math.round(burn.critical / MINUTE) },
  }
  return { status: burn.severity, message, details: { findings: [finding], judged: 1, ...figuresOf(budget) } }
}

/** Numbers for programs that read results: in seconds, and what is left as a share of 1. */
const figuresOf = ({ target, budget, spent, left }: Budget) => ({
  target,
  budget_seconds: Math.round(budget / SECOND),
  spent_seconds: Math.round(spent / SECOND),
  left: Math.round(left * 10_000) / 10_000,
})
