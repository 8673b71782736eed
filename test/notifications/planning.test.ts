import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupsOf, nextStep, type PlanStep, type QueuedMessage } from '../../src/notifications/delivery/schedule.ts'

const T = 1_000_000

/** `A opened +3` was written 3 s after T about alert A; gathered kinds are held back for 10 s, or until when it says: `A resolved 0 till 90`. */
function waiting(text: string, index: number): QueuedMessage {
  const match =
    /^(?:(?<client>\w+)\/)?(?<alert>\S+) (?<kind>\w+) (?<at>[+-]?\d+)(?: till (?<till>\d+))?(?: group (?<group>\d+))?$/.exec(
      text,
    )
  const { client = 'c', alert, kind = '', at, till, group } = match?.groups ?? {}
  const createdAt = T + Number(at) * 1_000
  const isGathered = kind === 'opened' || kind === 'resolved'
  return {
    id: String(index + 1),
    clientId: client,
    alertId: alert === '-' || alert === undefined ? null : alert,
    kind,
    createdAt,
    notBefore: till === undefined ? (isGathered ? createdAt + 10_000 : createdAt) : T + Number(till) * 1_000,
    groupId: group ?? null,
  }
}

const inWords = (step: PlanStep): string => {
  if (step.kind === 'send') return `send ${step.row.id}`
  if (step.kind === 'settle') return `settle ${step.rows.map(({ id }) => id).join(' ')}`
  return step.until === null ? 'rest' : `rest until +${(step.until - T) / 1_000}`
}

const CASES: readonly [title: string, rows: readonly string[], now: number, expected: string][] = [
  ['nothing waits', [], 0, 'rest'],
  ['a reminder goes at once', ['A reminder 0'], 0, 'send 1'],
  ['the oldest goes first', ['A reminder 0', 'B reminder 0'], 5, 'send 1'],
  ['many reminders at once are one', ['A reminder 0', 'B reminder 0', 'C reminder 0'], 0, 'settle 1 2 3'],
  ['a lone alert is held back', ['A opened 0'], 9, 'rest until +10'],
  ['a lone alert goes out after the hold', ['A opened 0'], 10, 'settle 1'],
  ['a settled one is sent', ['A opened 0 group 1'], 10, 'send 1'],
  ['a second alert during the hold prolongs it', ['A opened 0', 'B opened 9'], 10, 'rest until +30'],
  ['an outage goes out 30 s after its first alert', ['A opened 0', 'B opened 9', 'C opened 28'], 30, 'settle 1 2 3'],
  ['what comes later is another outage', ['A opened 0', 'B opened 9', 'C opened 31', 'D opened 32'], 35, 'settle 1 2'],
  ['after a long wait too, 30 s are one outage', ['A opened 0', 'B opened 31', 'C opened 32'], 3600, 'settle 1'],
  ['clients are kept apart', ['x/A opened 0', 'y/B opened 1'], 10, 'settle 1'],
  ['opening and resolving are kept apart', ['A opened 0', 'B resolved 1'], 10, 'settle 1'],
  ['ends are gathered like openings', ['A resolved 0', 'B resolved 1', 'C resolved 2'], 30, 'settle 1 2 3'],
  ['an alert held back holds back what follows of it', ['A opened 0', 'A escalated 1'], 5, 'rest until +10'],
  ['and not what is said of others', ['A opened 0', 'A escalated 1', 'B escalated 2'], 5, 'send 3'],
  ['nor a message of no alert', ['A opened 0', '- digest 1'], 5, 'send 2'],
  ['an end waits for its opening', ['A opened 0', 'A resolved 1'], 30, 'settle 1'],
  [
    'an end that waits for its opening is not gathered',
    ['A opened 25', 'A resolved 26', 'B resolved 27'],
    37,
    'settle 1',
  ],
  [
    'others end together meanwhile',
    ['A opened 20', 'A resolved 21', 'B resolved -9', 'C resolved -8', 'D resolved 0'],
    21,
    'settle 3 4 5',
  ],
  [
    'a settled group goes before what was gathered since',
    ['A opened 0 group 1', 'B opened 1 group 1', 'C opened 2'],
    90,
    'send 1',
  ],
  ['the rest of an outage that is partly settled', ['A opened 0 group 1', 'B opened 12', 'C opened 14'], 30, 'send 1'],
  ['what is kept back holds up no other of its kind', ['A resolved 0 till 90', 'B resolved 40'], 50, 'settle 2'],
  ['nor does it go with one that is not', ['A resolved 0', 'B resolved 5 till 90'], 10, 'settle 1'],
  ['what is kept back waits for no other', ['A resolved 0 till 90', 'B resolved 5 till 95'], 92, 'settle 1'],
  ['and goes with what is due', ['A resolved 0 till 90', 'B resolved 5 till 90'], 90, 'settle 1 2'],
  ["but not with other clients'", ['x/A resolved 0 till 90', 'y/B resolved 40 till 90'], 90, 'settle 1'],
  ['members of a gathering wait with its first', ['A opened 0', 'B opened 5', 'B escalated 6'], 20, 'rest until +30'],
]

const HOUR = 3_600
const GATHERED: typeof CASES = [
  ['an end that is not certain goes with no opening', ['A resolved 0 till 43200', 'B opened 3600'], 3_610, 'settle 2'],
  ['an opening takes along the ends that are', ['A resolved 0 till 43200', 'x/B opened 8000'], 8_010, 'settle 2 1'],
  ['two openings take none', ['A resolved 0 till 43200', 'B opened 8000', 'C opened 8001'], 8_030, 'settle 2 3'],
  [
    'an end that is due takes along those of other clients',
    ['x/A resolved 0 till 43200', 'y/B resolved 20000 till 63200'],
    43_200,
    'settle 1 2',
  ],
  [
    'but none that may be taken back',
    ['x/A resolved 0 till 43200', 'y/B resolved 43000 till 86200'],
    12 * HOUR,
    'settle 1',
  ],
  [
    'nor one whose opening waits',
    ['x/A resolved 0 till 43200', 'y/B opened 0 till 90000', 'y/B resolved 20000 till 63200'],
    43_200,
    'settle 1',
  ],
]
for (const [title, rows, now, expected] of GATHERED) {
  test(`order of messages where ends are gathered: ${title}`, () => {
    assert.equal(inWords(nextStep(rows.map(waiting), T + now * 1_000, true)), expected)
  })
}

for (const [title, rows, now, expected] of CASES) {
  test(`order of messages: ${title}`, () => {
    assert.equal(inWords(nextStep(rows.map(waiting), T + now * 1_000)), expected)
  })
}

test('a group holds a hundred messages, and the next one continues from there', () => {
  const rows = Array.from({ length: 150 }, (_, n) => waiting(`A${n} opened 0`, n))
  const step = nextStep(rows, T + 30_000)
  assert.equal(step.kind === 'settle' && step.rows.length, 100)
  const rest = nextStep(rows.slice(100), T + 30_000)
  assert.equal(rest.kind === 'settle' && rest.rows.length, 50)
})

test('three alerts within 30 s are one message, those sent already included; fewer go one by one', () => {
  const cases: [string, number, string][] = [
    ['a', 0, 'a'],
    ['a', 9, 'a'],
    ['a b', 0, 'a|b'],
    ['a b', 1, 'a b'],
    ['a b c', 0, 'a b c'],
  ]
  for (const [rows, sent, expected] of cases) {
    const groups = groupsOf(rows.split(' '), sent)
    assert.equal(groups.map((group) => group.join(' ')).join('|'), expected, `${rows}, ${sent} sent`)
  }
})
