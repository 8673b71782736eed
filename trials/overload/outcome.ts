import { type Check, check, grouped, markdownTable, milliseconds, outcomeText } from '../../bench/lib/table.ts'
import type { Overload, OverloadResult } from './overload.ts'

/** More connections that all send at once are shown, and promised nothing. */
const PROMISED_CONNECTIONS = 2_000
const ACCEPTED_MS = 1_000
const ACCEPTED_SHARE = 0.5
const RECOVERY_SECONDS = 2

/** The runs as Markdown: what each number of connections met, and what was to be held. */
export function overloadText(result: OverloadResult): string {
  const head = [
    'connections',
    'sent/s',
    'accepted/s',
    'accepted p50',
    'p99',
    'longest',
    'refused/s (503)',
    'refused p50',
    'p99',
    'other answers',
    'recovered after',
    'longest /ready',
    'processor of server, sender',
  ]
  const rows = result.overloads.map(({ connections, during, recoverySeconds, readyMs, serverLoad }) => [
    grouped(connections),
    grouped(during.sent / during.seconds),
    grouped(during.accepted.count / during.seconds),
    milliseconds(during.accepted.p50Ms),
    milliseconds(during.accepted.p99Ms),
    milliseconds(during.accepted.maxMs),
    grouped((during.statuses[503] ?? 0) / during.seconds),
    milliseconds(during.refused.p50Ms),
    milliseconds(during.refused.p99Ms),
    otherAnswers(during),
    recoverySeconds === null ? 'not' : `${recoverySeconds.toFixed(1)} s`,
    readyMs === null ? 'not 200' : milliseconds(readyMs),
    `${serverLoad.toFixed(2)}, ${during.generatorLoad.toFixed(2)}`,
  ])
  return [markdownTable(head, rows), outcomeText({ measurements: [], checks: overloadChecks(result) })].join('\n\n')
}

export function overloadChecks({ peak, overloads, counted, log }: OverloadResult): Check[] {
  const judged = overloads.filter(({ connections }) => connections <= PROMISED_CONNECTIONS)
  const longest = (value: (found: Overload) => number): number => Math.max(...judged.map(value))
  const p99 = longest(({ during }) => during.accepted.p99Ms)
  const refusedP99 = longest(({ during }) => during.refused.p99Ms)
  const accepted = Math.min(...judged.map(({ during }) => during.accepted.count / during.seconds / peak))
  const recovery = longest(({ recoverySeconds }) => recoverySeconds ?? Number.POSITIVE_INFINITY)
  const others = overloads.filter((found) => otherAnswers(found.during) !== 'none')
  const upTo = `up to ${grouped(PROMISED_CONNECTIONS)} connections`
  return [
    check(`accepted: p99, ${upTo}`, milliseconds(p99), '< 1 s', p99 < ACCEPTED_MS),
    check(`refused: p99, ${upTo}`, milliseconds(refusedP99), '< 1 s', refusedP99 < ACCEPTED_MS),
    check(
      `accepted, share of the peak, ${upTo}`,
      accepted.toFixed(2),
      `≥ ${ACCEPTED_SHARE}`,
      accepted >= ACCEPTED_SHARE,
    ),
    check(`recovery, ${upTo}`, `${recovery.toFixed(1)} s`, `< ${RECOVERY_SECONDS} s`, recovery < RECOVERY_SECONDS),
    check(
      'events acknowledged and counted',
      `${grouped(counted.accepted)} and ${grouped(counted.counted)}, ${counted.wrongSites} sites differ`,
      'equal on every site',
      counted.wrongSites === 0,
    ),
    check('answers but 200 and 503, none at all', others.length === 0 ? 'none' : 'some', 'none', others.length === 0),
    check('errors and warnings in the log', log.slice(0, 300) || 'none', 'none', log === ''),
  ]
}

function otherAnswers({ statuses, unanswered }: Overload['during']): string {
  const others = Object.entries(statuses)
    .filter(([status]) => status !== '200' && status !== '503')
    .map(([status, count]) => `${status} × ${grouped(count)}`)
  if (unanswered > 0) others.push(`${grouped(unanswered)} unanswered`)
  return others.join(', ') || 'none'
}
