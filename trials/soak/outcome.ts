import { type Check, check, grouped, markdownTable, milliseconds, outcomeText } from '../../bench/lib/table.ts'
import type { Sample, SoakResult } from './soak.ts'

/** Memory of the last third next to that of the second: what grows on shows here. */
const MEMORY_RATIO = 1.1
/** p99 of the last third next to that of the first. */
export const P99_RATIO = 1.5
/** Lines of the table. */
const STRETCHES = 6

/** The run as Markdown: what it met, stretch by stretch, and what was to be held. */
export function soakText(result: SoakResult): string {
  return [stretchTable(result), outcomeText({ measurements: [], checks: soakChecks(result) })].join('\n\n')
}

function stretchTable({ samples }: SoakResult): string {
  const head = [
    'until',
    'requests/s',
    'p50',
    'p99',
    'memory',
    'event loop p99',
    'reports p99',
    'probes',
    'messages',
    'waiting messages',
    'fold lag',
    'log',
    'database',
  ]
  const rows = partsOf(samples, STRETCHES).map((part) => [
    timeText(part.at(-1)?.at ?? 0),
    grouped(mean(part, ({ load }) => load.accepted.count / load.seconds)),
    milliseconds(mean(part, ({ load }) => load.acceptedFromDue.p50Ms)),
    milliseconds(p99Of(part)),
    megabytes(memoryOf(part)),
    milliseconds(mean(part, ({ service }) => service.loopDelayMs)),
    milliseconds(mean(part, ({ around }) => around.reportP99Ms)),
    grouped(sum(part, ({ around }) => around.probed)),
    grouped(sum(part, ({ around }) => around.messages)),
    grouped(mean(part, ({ service }) => service.deliveriesPending)),
    `${mean(part, ({ service }) => service.foldLagSeconds).toFixed(1)} s`,
    megabytes(mean(part, ({ service }) => service.logMb)),
    megabytes(part.at(-1)?.service.databaseMb ?? 0),
  ])
  return markdownTable(head, rows)
}

/** What is to be held, whatever the machine. */
export function soakChecks(result: SoakResult): Check[] {
  const { samples, alerting, messages, counted, log } = result
  const [first = [], second = [], last = []] = partsOf(samples, 3)
  const memory = memoryOf(last) / memoryOf(second)
  const p99 = p99Of(last) / p99Of(first)
  const failures = samples.flatMap(({ around }) => around.failures)
  const others = samples.flatMap(({ load }) => otherAnswers(load.statuses))
  const unanswered = sum(samples, ({ load }) => load.unanswered + load.givenUp)
  return [
    check('memory, last third ÷ second', memory.toFixed(2), `≤ ${MEMORY_RATIO}`, memory <= MEMORY_RATIO),
    check('p99, last third ÷ first', p99.toFixed(2), `≤ ${P99_RATIO}`, p99 <= P99_RATIO),
    check(
      'events acknowledged and counted',
      `${grouped(counted.accepted)} and ${grouped(counted.counted)}, ${counted.wrongSites} sites differ`,
      'equal on every site',
      counted.wrongSites === 0,
    ),
    check('answers other than 200', others.join(', ') || 'none', 'none', others.length === 0),
    check('requests without an answer', grouped(unanswered), '0', unanswered === 0),
    check(
      'alerts raised, still open at the end',
      `${alerting.alerts}, ${alerting.unresolved}`,
      'some, 0',
      alerting.alerts > 0 && alerting.unresolved === 0,
    ),
    check(
      'messages received, still waiting, given up',
      `${messages}, ${alerting.pendingMessages}, ${alerting.givenUpMessages}`,
      'some, 0, 0',
      messages > 0 && alerting.pendingMessages === 0 && alerting.givenUpMessages === 0,
    ),
    check(
      'reports and event stream: failures',
      failures.slice(0, 3).join('; ') || 'none',
      'none',
      failures.length === 0 && sum(samples, ({ around }) => around.streamed) > 0,
    ),
    check('errors and warnings in the log', log.slice(0, 300) || 'none', 'none', log === ''),
  ]
}

/** `count` parts of about the same length, or as many as there are items. */
export function partsOf<T>(items: readonly T[], count: number): T[][] {
  const parts = Math.min(count, items.length)
  return Array.from({ length: parts }, (_, part) =>
    items.slice(Math.round((part * items.length) / parts), Math.round(((part + 1) * items.length) / parts)),
  )
}

const otherAnswers = (statuses: Readonly<Record<string, number>>): string[] =>
  Object.entries(statuses)
    .filter(([status]) => status !== '200')
    .map(([status, count]) => `${status} × ${grouped(count)}`)

const memoryOf = (samples: readonly Sample[]): number => mean(samples, ({ service }) => service.memoryMb)

/** The median of the samples' own: one in which the machine did something else says nothing of the service. */
function p99Of(samples: readonly Sample[]): number {
  const sorted = samples.map(({ load }) => load.acceptedFromDue.p99Ms).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

const sum = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((total, item) => total + value(item), 0)

const mean = <T>(items: readonly T[], value: (item: T) => number): number => sum(items, value) / items.length

const megabytes = (value: number): string => `${value.toFixed(0)} MB`

const timeText = (seconds: number): string =>
  seconds < 120 ? `${Math.round(seconds)} s` : `${(seconds / 60).toFixed(seconds % 60 === 0 ? 0 : 1)} min`
