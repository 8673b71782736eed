import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CONSENT_DEFAULTS,
  type ConsentField,
  consentSignals,
  type FieldCounts,
  learnConsent,
  learnTagConsent,
  type PresenceBucket,
  type Purpose,
  type TagConsentHistory,
} from '../../src/detection/index.ts'
import { HOUR, isoTime } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

/** 100 events: 90 say anything, 60 of those grant, 80 have seen a choice. */
const counts = (over: Partial<Record<ConsentField, number>> = {}): FieldCounts<ConsentField> => {
  const present = { signal: 90, update: 80, ad_storage: 60, analytics_storage: 65, refusal: 30, ...over }
  const total = { signal: 100, update: 90, ad_storage: 90, analytics_storage: 90, refusal: 90 }
  const of = (field: ConsentField) => ({ present: present[field], total: total[field] })
  return {
    signal: of('signal'),
    update: of('update'),
    ad_storage: of('ad_storage'),
    analytics_storage: of('analytics_storage'),
    refusal: of('refusal'),
  }
}

/** With the hours of the week before. */
interface Tag extends TagConsentHistory {
  earlier: readonly PresenceBucket<Purpose>[]
}

const past = (
  usual: readonly PresenceBucket<ConsentField>[],
  tags: readonly Tag[] = [],
  earlier: readonly PresenceBucket<ConsentField>[] = [],
) => ({
  events: learnConsent({ usual, earlier }, CONSENT_DEFAULTS),
  tags: new Map(tags.map((tag) => [tag.tag_key, learnTagConsent(tag.earlier, USUAL_DENIED, CONSENT_DEFAULTS)])),
  denied: USUAL_DENIED,
})

const USUAL_DENIED = { ad_storage: 0.3, analytics_storage: 0.25 }

/** Two hours of slots up to noon, of which the last ones are as given, after a week of hours as usual. */
const judge = (
  last: readonly FieldCounts<ConsentField>[],
  tags: readonly Tag[] = [],
  hours: readonly FieldCounts<ConsentField>[] = [],
) =>
  consentSignals(
    {
      now: NOON,
      recent: bucketsUntil(NOON, SLOT, 24).map((range, index) => ({
        ...range,
        fields: last[index - 24 + last.length] ?? counts(),
      })),
      tags,
      past: past(
        bucketsUntil(NOON - 24 * HOUR, HOUR, 168).map((range, hour) => ({ ...range, fields: hours[hour] ?? counts() })),
        tags,
      ),
    },
    CONSENT_DEFAULTS,
  )

const slots = (number: number, over: Partial<Record<ConsentField, number>>) =>
  Array.from({ length: number }, () => counts(over))

test('consent that is as usual is fine', () => {
  const { status, message, details } = judge([])
  assert.equal(status, 'ok')
  assert.equal(details.judged, 5)
  assert.match(message, /5 of 5 figures/)
})

const BREAKS: readonly [
  what: string,
  over: Partial<Record<ConsentField, number>>,
  field: ConsentField,
  says: RegExp,
][] = [
  ['signals are gone', { signal: 1 }, 'signal', /^A consent signal is on 1 % of \d+ events in \d+ min; usually 90 %$/],
  ['the choice no longer follows the default', { update: 1, ad_storage: 1, analytics_storage: 1 }, 'update', /choice/],
  ['everyone is denied', { ad_storage: 2 }, 'ad_storage', /“ad_storage” is granted on 2\.2 %/],
  ['analytics is denied', { analytics_storage: 3 }, 'analytics_storage', /“analytics_storage” is granted/],
  ['no one refuses any more', { refusal: 0 }, 'refusal', /refusals may be lost/],
]
for (const [what, over, field, says] of BREAKS) {
  test(`consent is critical, with the time since when, where ${what}`, () => {
    const { status, details } = judge(slots(4, over))
    assert.equal(status, 'critical')
    assert.deepEqual(
      details.findings.map(({ subject }) => subject),
      [{ field }],
      'and only that is said',
    )
    assert.match(details.findings[0]?.message ?? '', says)
    assert.equal(details.findings[0]?.since, isoTime(NOON - 4 * SLOT))
  })
}

test('consent that falls by a third is no break', () => {
  assert.equal(judge(slots(12, { ad_storage: 40, signal: 60 })).status, 'ok')
})

test('a site whose events never said anything is not judged', () => {
  const none = counts({ signal: 0, update: 0, ad_storage: 0, analytics_storage: 0, refusal: 0 })
  const { details } = consentSignals(
    {
      now: NOON,
      recent: bucketsUntil(NOON, SLOT, 24).map((range) => ({ ...range, fields: none })),
      tags: [],
      past: past(bucketsUntil(NOON - 24 * HOUR, HOUR, 168).map((range) => ({ ...range, fields: none }))),
    },
    CONSENT_DEFAULTS,
  )
  assert.equal(details.judged, 0)
})

/** A tag with ten executions a slot, on as many denied events as given per slot. */
const tag = (before: number, recent: readonly number[]): Tag => {
  const bucket = (denied: number) => {
    const count = { present: denied, total: 10 }
    return { fields: { ad_storage: count, analytics_storage: count } }
  }
  return {
    tag_key: 'Meta CAPI',
    recent: bucketsUntil(NOON, SLOT, recent.length).map((range, index) => ({
      ...range,
      ...bucket(recent[index] ?? 0),
    })),
    earlier: bucketsUntil(NOON - 24 * HOUR, HOUR, 168).map((range) => ({ ...range, ...bucket(before) })),
  }
}

test('a tag that kept to consent and no longer does warns, with the time since when', () => {
  const { status, details, fine } = judge([], [tag(0, [0, 0, 0, 0, 0, 0, 3, 4, 3, 4, 3, 4])])
  assert.equal(status, 'warning')
  const [finding] = details.findings
  assert.deepEqual(finding?.subject, { tag_key: 'Meta CAPI' })
  assert.match(finding?.message ?? '', /^“Meta CAPI” ran while “ad_storage” was denied in \d+ % of \d+ executions/)
  assert.equal(finding?.since, isoTime(NOON - 6 * SLOT))
  assert.equal(fine.length, 5)
})

test('consent that was lost and came back is lost no more', () => {
  const lost = slots(4, { signal: 1 })
  assert.equal(judge(lost).status, 'critical')
  assert.equal(judge([...lost, ...slots(2, {})]).status, 'ok')
})

/** In each hour the same number grants, or by turns all of some visitors and all of others. */
const STEADY = Array.from({ length: 168 }, () => counts())
const BY_VISITOR = STEADY.map((_, hour) => {
  const granted = hour % 2 === 0 ? 90 : 30
  return counts({ ad_storage: granted, analytics_storage: granted })
})

test('one visitor without consent, of those who look at many pages, is no habit of a tag', () => {
  // Usually one in fifty visitors slips through, with all pages at once.
  const kept = tag(0, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5])
  const slipped = { present: 10, total: 10 }
  const earlier = kept.earlier.map((bucket, hour) =>
    hour % 50 === 0 ? { ...bucket, fields: { ad_storage: slipped, analytics_storage: slipped } } : bucket,
  )
  assert.equal(judge([], [{ ...kept, earlier }], BY_VISITOR).status, 'ok')
})

for (const [where, hours, status] of [
  ['where each event is a choice of its own', STEADY, 'warning'],
  ['where a choice is one for all pages of a visit, though it never happened before', BY_VISITOR, 'ok'],
] as const) {
  test(`a tag that ran for ten events without consent within minutes is ${status} ${where}`, () => {
    const kept = tag(0, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5])
    assert.equal(judge([], [kept], hours).status, status)
  })
}

test('a tag that keeps to consent is fine, however many visitors deny it', () => {
  const { status, fine } = judge(slots(12, { refusal: 85 }), [tag(0, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])])
  assert.equal(status, 'ok')
  assert.ok(fine.some((subject) => subject.tag_key === 'Meta CAPI'))
})

test('a tag that always ran whatever was said is not judged', () => {
  const { status, details } = judge([], [tag(3, [3, 3, 3, 3, 3, 3, 6, 6, 6, 6, 6, 6])])
  assert.deepEqual([status, details.unjudged], ['ok', 1])
})

/** Of each hundred events 20 deny, give or take six from day to day: some days have half of it. */
const DAYS = [20, 26, 14, 22, 29, 18, 10, 24, 21, 13]
const ofDay = (daysAgo: number): FieldCounts<ConsentField> => {
  const denied = DAYS[daysAgo % DAYS.length] ?? 0
  const of = (present: number) => ({ present: 100 * present, total: 10_000 })
  const [granted, rest] = [of(100 - denied), of(denied)]
  return { signal: of(100), update: of(90), ad_storage: granted, analytics_storage: granted, refusal: rest }
}

for (const [what, earlier, status] of [
  ['is a fault as far as an even week tells', 0, 'warning'],
  ['is none where four weeks had such days', 21, 'ok'],
] as const) {
  test(`a day with few refusals ${what}`, () => {
    const even = ofDay(0)
    const few = (of: FieldCounts<ConsentField>) => ({ ...of, refusal: { present: 700, total: 10_000 } })
    const { status: found, message } = consentSignals(
      {
        now: NOON,
        recent: bucketsUntil(NOON, HOUR, 24).map((range) => ({ ...range, fields: few(even) })),
        tags: [],
        past: past(
          bucketsUntil(NOON - 24 * HOUR, HOUR, 168).map((range) => ({ ...range, fields: even })),
          [],
          bucketsUntil(NOON - 8 * 24 * HOUR, 24 * HOUR, earlier).map((range, day) => ({
            ...range,
            fields: ofDay(day),
          })),
        ),
      },
      CONSENT_DEFAULTS,
    )
    assert.equal(found, status, message)
  })
}
