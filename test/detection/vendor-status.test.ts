import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VENDOR_STATUS_DEFAULTS, vendorStatus } from '../../src/detection/index.ts'
import { isoTime } from '../../src/lib/index.ts'
import { bucketsUntil, NOON, SLOT } from './support.ts'

const NONE = { response_2xx: 0, response_3xx: 0, response_4xx: 0, response_5xx: 0, response_none: 0 }

type Answers = Partial<typeof NONE>

/** The answers of five minutes each, up to noon. */
const judge = (...slots: readonly Answers[]) =>
  vendorStatus(
    {
      now: NOON,
      tags: [
        {
          tag_key: 'Meta CAPI',
          buckets: bucketsUntil(NOON, SLOT, slots.length).map((range, at) => ({ ...range, ...NONE, ...slots[at] })),
        },
      ],
    },
    VENDOR_STATUS_DEFAULTS,
  )

const CASES: readonly [what: string, answers: Answers, status: string][] = [
  ['2xx and 3xx', { response_2xx: 90, response_3xx: 10 }, 'ok'],
  ['4xx of one in ten', { response_2xx: 90, response_4xx: 10 }, 'warning'],
  ['5xx of half', { response_2xx: 50, response_5xx: 50 }, 'critical'],
  ['no answer to half', { response_2xx: 50, response_none: 50 }, 'critical'],
  ['2 refusals of 20', { response_2xx: 18, response_4xx: 2 }, 'ok'],
]
for (const [what, answers, status] of CASES) {
  test(`${what}: ${status}`, () => assert.equal(judge(answers).status, status))
}

test('the message names what the vendor answered, and since when', () => {
  const { message, details } = judge(
    ...Array.from({ length: 30 }, () => ({ response_2xx: 20 })),
    { response_4xx: 20 },
    { response_4xx: 19, response_none: 1 },
  )
  assert.match(
    message,
    /^The vendor of “Meta CAPI” refused 67 % of 60 executions in 15 min \(39 HTTP 4xx, 1 no answer\)/,
  )
  const [finding] = details.findings
  assert.equal(finding?.since, isoTime(NOON - 2 * SLOT))
  assert.equal(finding?.evidence.response_4xx, 39)
})

test('one tag is one', () => {
  assert.equal(judge({ response_2xx: 90 }).message, '1 tag is answered well by its vendor')
})

test('a vendor that always refuses a little is no alarm', () => {
  const usual = Array.from({ length: 280 }, (_, at) => ({ response_2xx: 19, response_4xx: at % 2 }))
  assert.equal(judge(...usual, { response_2xx: 17, response_4xx: 2 }).status, 'ok')
})

test('a tag with consent and without answers is not judged', () => {
  const { status, details } = judge({}, {}, { response_2xx: 3 })
  assert.deepEqual([status, details.judged, details.unjudged], ['ok', 0, 1])
})
