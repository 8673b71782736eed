import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checksOf, type Facts } from '../../web/src/features/setup/checks.ts'
import { clockFault } from '../../web/src/features/setup/clock.ts'

/** A site that sends batches under a plan of 10 requests a second and 100,000 events, with refusals for these limits. */
function facts(paths: readonly string[], used: number): Facts {
  const usage = { requests_per_second: 10, plan: 'free', limit: 100_000, events: used, share: used / 100_000 }
  const level = used >= 100_000 ? 'exceeded' : used >= 80_000 ? 'warning' : 'ok'
  const rejections = paths.map((path) => ({ at: '2026-11-20T10:00:00.000Z', reason: 'rate_limited', path }))
  return {
    report: {
      containers: [],
      tags: [],
      warnings: [],
      total_events: 10,
      rejections: paths.length === 0 ? {} : { rate_limited: paths.length },
    },
    recent: { accepted: [{ accepted_at: '2026-11-20T10:00:00.000Z', batch: true }], rejections },
    usage: { ...usage, level },
    minutes: { series: [], bucket_seconds: 60 },
  } as unknown as Facts
}

function check(id: string, paths: readonly string[], used = 99_500): string {
  const found = checksOf(facts(paths, used)).find((each) => each.id === id)
  assert.ok(found !== undefined)
  return `${found.status}: ${found.text}`
}

const [RATE, QUOTA] = ['requests per second', 'events per month'] as const

test('a batch that is larger than the rest of the quota did not come too fast', () => {
  assert.match(check('mode', [QUOTA, QUOTA]), /^ok: /)
  assert.match(check('usage', [QUOTA]), /^critical: .*: batches of more events than are left are refused/)
})

test('what came too fast is named as such, and what else was refused does not count as that', () => {
  assert.match(check('mode', [RATE, RATE]), /^critical: 2 requests of the last 24 hours came too fast: over the 10 /)
  assert.match(check('usage', [RATE]), /^warning: .*: it may not last until the month ends/)
  assert.match(check('mode', [RATE, QUOTA]), /^critical: Of 2 requests .* that were refused, some came too fast: over /)
})

test('a quota that is used up is named once, and the send mode is judged by the pace', () => {
  assert.match(check('mode', [QUOTA], 100_000), /^ok: /)
  assert.match(check('usage', [QUOTA], 100_000), /^critical: .*: further ones are refused until the month ends/)
  assert.match(check('mode', [], 100), /^ok: /)
})

test('how many tags are known by name reads well for one, too', () => {
  const names = (...tag_names: (string | null)[]) => {
    const some = facts([], 0)
    const tags = tag_names.map((tag_name, n) => ({ tag_key: tag_name ?? `tag_${n}`, tag_name, executions: 1 }))
    return checksOf({ ...some, report: { ...some.report, tags } as Facts['report'] }).find(({ id }) => id === 'names')
      ?.text
  }
  assert.equal(names('Meta'), 'The only tag that ran is known by name.')
  assert.equal(names('Meta', 'GA4'), 'All of the 2 tags that ran are known by name.')
  assert.match(names('Meta', null) ?? '', /^1 of 2 tags is known by id only: tag_1\. /)
})

const AT = '2026-11-20T10:00:00.000Z'
const sentAt = (...times: number[]) => times.map((timestamp_ms) => ({ accepted_at: AT, timestamp_ms }))
const at = (minutes: number): number => Date.parse(AT) + minutes * 60_000

for (const [what, accepted, says] of [
  ['nothing', [], null],
  ['no time', [{ accepted_at: AT }], null],
  ['the right time', sentAt(at(0), at(-1), at(1)), null],
  ['one late event among others', sentAt(at(0), at(-600), at(0)), null],
  ['a minute ahead', sentAt(at(1)), null],
  ['three hours ahead', sentAt(at(180), at(181), at(0)), /about 3\u00a0h ahead/],
  ['two hours behind', sentAt(at(-130)), /about 2\u00a0h old, and charts show them there/],
  ['three days behind', sentAt(at(-3 * 1440 - 10)), /about 3\u00a0d old, so they are counted at the time they arrive/],
  ['seconds', sentAt(Math.floor(at(0) / 1_000)), /in seconds, not milliseconds/],
  ['zero', sentAt(0), /counted at the time they arrive/],
  ['the end of a batch', [{ accepted_at: AT, batch: true, window_end_ms: at(60) }], /60\u00a0min ahead/],
] as const) {
  test(`a sender whose clock shows ${what} ${says === null ? 'is fine' : 'is said to have a wrong one'}`, () => {
    const fault = clockFault([...accepted] as { accepted_at: string }[])
    if (says === null) assert.equal(fault, null)
    else assert.match(fault ?? '', says)
  })
}
