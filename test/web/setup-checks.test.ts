import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checksOf, type Facts } from '../../web/src/features/setup/checks.ts'

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
