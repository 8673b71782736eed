import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  escalatesTo,
  type Override,
  type Rotation,
  whoIsOnCall,
} from '../../../src/notifications/on-call/who-is-on-call.ts'

const person = (name: string) => ({ id: name.toLowerCase(), name, email: null, channelId: null })
const ADA = person('Ada')
const GRACE = person('Grace')
const MARY = person('Mary')

/** Monday 09:00 in Berlin, Ada first, in the week of Monday, 2 November 2026. */
const rotation: Rotation = {
  people: [ADA, GRACE, MARY],
  timezone: 'Europe/Berlin',
  handoverWeekday: 1,
  handoverTime: '09:00',
  startsOn: '2026-11-02',
  escalateAfterMinutes: 15,
}
const override = (name: string, from: string, to: string): Override => ({
  id: `${name} ${from}`,
  personId: name,
  startsAt: Date.parse(from),
  endsAt: Date.parse(to),
})

const SITUATIONS: readonly [
  what: string,
  at: string,
  who: string,
  until: string | null,
  change?: Partial<Rotation>,
  overrides?: readonly Override[],
][] = [
  ['the first week begins', '2026-11-02T08:00:00Z', 'Ada', '2026-11-09T08:00:00Z'],
  ['a second before the hand-over', '2026-11-09T07:59:59Z', 'Ada', '2026-11-09T08:00:00Z'],
  ['at the hand-over', '2026-11-09T08:00:00Z', 'Grace', '2026-11-16T08:00:00Z'],
  ['after as many weeks as people', '2026-11-23T08:00:00Z', 'Ada', '2026-11-30T08:00:00Z'],
  ['before the first week the order goes back', '2026-11-02T07:59:59Z', 'Mary', '2026-11-02T08:00:00Z'],
  ['years later', '2036-11-03T08:00:00Z', 'Ada', '2036-11-10T08:00:00Z'],
  [
    'it begins on another day of the week',
    '2026-11-05T12:00:00Z',
    'Ada',
    '2026-11-09T08:00:00Z',
    { startsOn: '2026-11-05' },
  ],
  ['the week in which clocks go forward is an hour shorter', '2027-03-28T20:00:00Z', 'Mary', '2027-03-29T07:00:00Z'],
  [
    'the week in which clocks go back is an hour longer',
    '2026-10-25T20:00:00Z',
    'Grace',
    '2026-10-26T08:00:00Z',
    { startsOn: '2026-10-12' },
  ],
  [
    'a hand-over that does not exist is an hour later',
    '2027-03-28T00:59:59Z',
    'Ada',
    '2027-03-28T01:30:00Z',
    { handoverWeekday: 7, handoverTime: '02:30', startsOn: '2027-03-21' },
  ],
  [
    'of a hand-over that comes twice it is the first',
    '2026-10-25T00:30:00Z',
    'Grace',
    '2026-11-01T01:30:00Z',
    { handoverWeekday: 7, handoverTime: '02:30', startsOn: '2026-10-18' },
  ],
  [
    'the local day is another than that of UTC',
    '2026-11-09T13:30:00Z',
    'Grace',
    '2026-11-16T13:00:00Z',
    { timezone: 'Pacific/Kiritimati', handoverWeekday: 2, handoverTime: '03:00', startsOn: '2026-11-03' },
  ],
  ['alone there is no one to hand over to', '2026-11-04T00:00:00Z', 'Ada', null, { people: [ADA] }],
  [
    'someone stands in',
    '2026-11-04T12:00:00Z',
    'Mary, standing in',
    '2026-11-05T00:00:00Z',
    {},
    [override('mary', '2026-11-04T00:00:00Z', '2026-11-05T00:00:00Z')],
  ],
  [
    'an override ends half-open',
    '2026-11-05T00:00:00Z',
    'Ada',
    '2026-11-09T08:00:00Z',
    {},
    [override('mary', '2026-11-04T00:00:00Z', '2026-11-05T00:00:00Z')],
  ],
  [
    'an override to come ends the turn',
    '2026-11-03T00:00:00Z',
    'Ada',
    '2026-11-04T00:00:00Z',
    {},
    [override('mary', '2026-11-04T00:00:00Z', '2026-11-05T00:00:00Z')],
  ],
  [
    'who stands in goes on into the own week',
    '2026-11-08T00:00:00Z',
    'Grace, standing in',
    '2026-11-16T08:00:00Z',
    {},
    [override('grace', '2026-11-07T00:00:00Z', '2026-11-09T09:00:00Z')],
  ],
  [
    'of two overrides the last one counts',
    '2026-11-04T12:00:00Z',
    'Grace, standing in',
    '2026-11-04T18:00:00Z',
    {},
    [
      override('mary', '2026-11-04T00:00:00Z', '2026-11-05T00:00:00Z'),
      override('grace', '2026-11-04T06:00:00Z', '2026-11-04T18:00:00Z'),
    ],
  ],
  [
    'an override of someone who left counts for nothing',
    '2026-11-04T12:00:00Z',
    'Ada',
    '2026-11-09T08:00:00Z',
    {},
    [override('joan', '2026-11-04T00:00:00Z', '2026-11-05T00:00:00Z')],
  ],
]
for (const [what, at, who, until, change = {}, overrides = []] of SITUATIONS) {
  test(`on call: ${what}`, () => {
    const now = whoIsOnCall({ ...rotation, ...change }, overrides, Date.parse(at))
    assert.ok(now !== null)
    assert.equal(`${now.person.name}${now.isOverride ? ', standing in' : ''}`, who)
    assert.equal(now.until === null ? null : new Date(now.until).toISOString().replace('.000', ''), until)
  })
}

test('without people no one is on call', () => {
  assert.equal(whoIsOnCall({ ...rotation, people: [] }, [], 0), null)
})

test('an incident that no one takes goes to each of the others once, in their order', () => {
  const announcedAt = Date.parse('2026-11-10T00:00:00Z')
  const names = (overrides: Override[], people = rotation.people) =>
    [0, 1, 2].reduce<{ said: (string | undefined)[]; notified: string[] }>(
      ({ said, notified }) => {
        const next = escalatesTo({ rotation: { ...rotation, people }, overrides }, announcedAt, notified)
        return { said: [...said, next?.person.name], notified: next?.notified ?? notified }
      },
      { said: [], notified: [] },
    ).said
  assert.deepEqual(names([]), ['Mary', 'Ada', undefined])
  const standIn = override('mary', '2026-11-09T00:00:00Z', '2026-11-11T00:00:00Z')
  assert.deepEqual(names([standIn]), ['Ada', 'Grace', undefined])
  assert.deepEqual(names([], [ADA]), [undefined, undefined, undefined])
})
