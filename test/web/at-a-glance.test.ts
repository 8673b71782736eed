import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IncidentDetail } from '../../web/src/api/incidents.ts'
import { affectedWords, causeWords, chartsOf, lossWords } from '../../web/src/features/incidents/at-a-glance.ts'

type Affected = IncidentDetail['affected'][number]

const affected = (over: Partial<Affected>): Affected => ({
  alert_id: 'alert',
  client_id: 'client',
  site_id: 'shop',
  site_name: 'Shop',
  subject_label: 'Meta CAPI',
  tag: 'Meta CAPI',
  events: ['purchase'],
  vendor: 'Meta',
  started_at: '2026-11-25T13:00:00.000Z',
  resolved_at: null,
  ...over,
})

test('what is affected reads from the event to the tag, and says on how many sites', () => {
  const event = affected({ tag: null, subject_label: 'purchase' })
  const whole = affected({ tag: null, subject_label: null, events: [] })
  const many = affected({ events: ['a', 'b', 'c', 'd'] })
  assert.equal(affectedWords([affected({})]), 'purchase → Meta CAPI')
  assert.equal(affectedWords([affected({}), affected({ site_id: 'blog' })]), 'purchase → Meta CAPI, on 2 sites')
  assert.equal(affectedWords([event]), 'purchase')
  assert.equal(affectedWords([whole]), 'Shop')
  assert.equal(affectedWords([many]), 'a, b and 2 more → Meta CAPI')
  assert.equal(affectedWords([]), '')
})

test('its charts are those of the tag, or else of the event, from before it began', () => {
  const began = { from: '2026-11-25T11:00:00.000Z' }
  const charts = (over: Partial<Affected>, resolved_at: string | null = null) =>
    chartsOf({ affected: [affected(over)], resolved_at })?.search
  assert.deepEqual(charts({}), { ...began, tag: 'Meta CAPI' })
  assert.deepEqual(charts({ tag: null }), { ...began, event: 'purchase' })
  assert.deepEqual(charts({ tag: null, events: [] }, '2026-11-25T14:00:00.000Z'), {
    ...began,
    to: '2026-11-25T15:00:00.000Z',
  })
  assert.equal(chartsOf({ affected: [], resolved_at: null }), null)
})

test('where nothing is counted it says why', () => {
  const words = (cause: IncidentDetail['cause'], state: IncidentDetail['state'] = 'open') =>
    lossWords({ impact: null, cause, state })
  assert.equal(words('tag'), 'Not counted yet')
  assert.equal(words('tag', 'resolved'), 'Nothing was counted')
  assert.equal(words('own'), 'Nothing: our own check failed')
  assert.equal(words('quality'), 'Nothing: events arrive, but slow or incomplete')
})

test('the likely cause of an incident of a vendor is trouble there, where nothing else is known to explain it', () => {
  const vendors = {
    likely_cause: null,
    scope: 'vendor' as const,
    cause: 'tag' as const,
    vendor: 'Meta',
    state: 'open' as const,
    affected: [affected({}), affected({ site_id: 'blog' }), affected({ site_id: 'blog', subject_label: 'Funnel' })],
  }
  assert.equal(causeWords(vendors), 'Trouble at Meta: its tags fail on 2 sites')
  assert.equal(causeWords({ ...vendors, state: 'resolved' }), 'Trouble at Meta: its tags failed on 2 sites')
  assert.equal(causeWords({ ...vendors, affected: [affected({})] }), 'Trouble at Meta: its tags fail on several sites')
  assert.equal(causeWords({ ...vendors, likely_cause: 'version 42 was published' }), 'Version 42 was published')
  assert.equal(causeWords({ ...vendors, scope: 'site' }), 'Not known yet')
  assert.equal(causeWords({ ...vendors, cause: 'own' }), 'All of these checks need the same Google credentials')
  assert.equal(
    causeWords({ ...vendors, cause: 'silence', vendor: 'Tagwarden' }),
    "So many sites do not lose events at once by chance: Tagwarden's endpoint or network, or something they share",
  )
})
