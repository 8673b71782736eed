import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evidenceOf, type Known, likelyCause } from '../../../src/alerts/incidents/evidence.ts'
import { MINUTE } from '../../../src/lib/index.ts'
import { type Fault, sign } from './grouping-support.ts'

const META: Fault = { type: 'tag_failure_rate', at: 0, tag_key: 'Meta', events: ['purchase'] }
const SERVER: Fault = { type: 'http_health', at: 3 }
const START = sign(META).startedAt

const change = (minutes: number, from: string | null = '41') => ({
  at: START + minutes * MINUTE,
  source: 'web container',
  from_version: from,
  to_version: '42',
})

function known(faults: readonly Fault[], over: Partial<Known> = {}): Known {
  return {
    signs: faults.map((fault, index) => sign(fault, String(index))),
    leadId: '0',
    voiceId: '0',
    change: null,
    vendorElsewhere: null,
    httpStatus: null,
    why: [],
    ...over,
  }
}

const ELSEWHERE = 'Other sites are affected too: probably Meta, not your release'
const FIRST = 'It began with “Meta” on “purchase”'

const SITUATIONS: readonly [what: string, known: Known, cause: string | null, evidence: readonly string[]][] = [
  ['a tag alone', known([META]), null, [FIRST]],
  [
    'a tag after a release',
    known([META], { change: change(-12) }),
    'Web container 41 → 42 was published 12 min before it began',
    ['Web container 41 → 42 was published 12 min before it began', FIRST],
  ],
  [
    'a tag hours after a release',
    known([META], { change: change(-300, null) }),
    null,
    ['Web container 42 was published 5 h before it began', FIRST],
  ],
  [
    'a release that was seen a moment after what it broke',
    known([META], { change: change(4) }),
    'Web container 41 → 42 was seen 4 min after it began',
    ['Web container 41 → 42 was seen 4 min after it began', FIRST],
  ],
  ['a tag of several sites', known([META, { ...META, at: 3 }]), null, [FIRST]],
  [
    'a vendor that fails elsewhere, whatever was released',
    known([META], { change: change(-12), vendorElsewhere: 'Meta' }),
    ELSEWHERE,
    [ELSEWHERE, 'Web container 41 → 42 was published 12 min before it began', FIRST],
  ],
  [
    'a server that was found after the tag',
    known([META, SERVER], { leadId: '1', httpStatus: 503, why: ['Because'] }),
    '“http_health” explains the other alert',
    [
      '“http_health” explains the other alert',
      'The target answers with HTTP status 503',
      `${FIRST}, 3 min before “http_health”`,
      'Because',
    ],
  ],
  [
    'a server that people were notified of, which is no cause of itself',
    known([SERVER, META], { httpStatus: 503 }),
    null,
    [
      '“http_health” explains the other alert',
      'The target answers with HTTP status 503',
      `${FIRST}, 3 min before “http_health”`,
    ],
  ],
  [
    'a release before a server failed, which it is not to blame for',
    known([SERVER], { change: change(-2) }),
    null,
    ['Web container 41 → 42 was published 5 min before it began'],
  ],
  [
    'a vendor elsewhere that is said already',
    known([META], { vendorElsewhere: 'Meta', why: [ELSEWHERE] }),
    ELSEWHERE,
    [ELSEWHERE, FIRST],
  ],
]

for (const [what, facts, cause, evidence] of SITUATIONS) {
  test(`the evidence about ${what}`, () => {
    assert.equal(likelyCause(facts), cause)
    assert.deepEqual(evidenceOf(facts), evidence)
  })
}
