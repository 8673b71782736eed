import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge, type Seen, sumOfVerdicts } from '../chaos/judgement.ts'

const seen = (events: number, over: Partial<Seen> = {}): Seen => ({
  events,
  executions: events,
  pairs: events,
  ...over,
})

const CASES: [string, { acknowledged: number; unsure: number }, number, { lost: number; twice: number }][] = [
  ['all that was acknowledged is there', { acknowledged: 7, unsure: 0 }, 7, { lost: 0, twice: 0 }],
  ['none of the unsure ones is there', { acknowledged: 7, unsure: 3 }, 7, { lost: 0, twice: 0 }],
  ['all of the unsure ones are there', { acknowledged: 7, unsure: 3 }, 10, { lost: 0, twice: 0 }],
  ['one is missing', { acknowledged: 7, unsure: 0 }, 6, { lost: 1, twice: 0 }],
  ['one is there twice', { acknowledged: 7, unsure: 0 }, 8, { lost: 0, twice: 1 }],
  ['more are there than were sent', { acknowledged: 7, unsure: 3 }, 12, { lost: 0, twice: 2 }],
  ['nothing was sent and nothing is there', { acknowledged: 0, unsure: 0 }, 0, { lost: 0, twice: 0 }],
]

for (const [what, sent, grown, { lost, twice }] of CASES) {
  test(`the ledger judges by growth: ${what}`, () => {
    const verdict = judge('site', sent, seen(100), seen(100 + grown))
    assert.deepEqual([verdict.lost, verdict.twice], [lost, twice])
    assert.equal(verdict.problems.length > 0, lost + twice > 0)
  })
}

test('what one report has lost is lost, and reports that do not agree are a problem of their own', () => {
  const verdict = judge('site', { acknowledged: 5, unsure: 0 }, seen(0), seen(5, { pairs: 4 }))
  assert.equal(verdict.lost, 1)
  assert.match(verdict.problems.join('\n'), /pairs grew by 4\n.*do not agree/)
  const unsure = judge('site', { acknowledged: 5, unsure: 2 }, seen(0), seen(6, { executions: 7 }))
  assert.equal(unsure.lost + unsure.twice, 0)
  assert.match(unsure.problems.join('\n'), /do not agree/)
})

test('one site that lost and one that counted twice do not make up for each other', () => {
  const sent = { acknowledged: 5, unsure: 0 }
  const sum = sumOfVerdicts([judge('a', sent, seen(0), seen(4)), judge('b', sent, seen(0), seen(6))])
  assert.deepEqual([sum.lost, sum.twice], [1, 1])
})
