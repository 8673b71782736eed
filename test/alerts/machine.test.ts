import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addViolation } from '../../src/alerts/machine/bad.ts'
import { isReminderDue } from '../../src/alerts/machine/transition.ts'
import type { Rules } from '../../src/alerts/machine/types.ts'
import { HOUR, MINUTE } from '../../src/lib/index.ts'
import { type PlayStep, play, RULES, results } from './machine-support.ts'

/** What happens, which messages go out, and what state the last alert is in. */
type Row = [title: string, rules: Partial<Rules>, steps: readonly PlayStep[], messages: string[], state: string]

const SILENCE = { rules: { suppressedBy: 'silence:1' } }
const MAINTENANCE = { rules: { suppressedBy: 'maintenance:1' } }
const SPEAK = { rules: { suppressedBy: null } }
const TICK: PlayStep = { type: 'time' }
const ACK: PlayStep = { type: 'acknowledged', by: 'ops', comment: null }
const REMINDED = { reminderMinutes: 5 }
const RESOLVE: PlayStep = { type: 'resolved', by: 'ops', comment: null }
const REMOVE: PlayStep = { type: 'removed', text: 'gone' }

const ROWS: readonly Row[] = [
  ['good results open nothing', {}, results('ooo'), [], 'none'],
  ['the first warning opens and notifies', {}, results('ow'), ['opened:warning'], 'open'],
  ['the first critical opens and notifies', {}, results('oc'), ['opened:critical'], 'open'],
  ['what lasts notifies once', {}, results('occccc'), ['opened:critical'], 'open'],
  ['a good result resolves it and notifies', {}, results('oco'), ['opened:critical', 'resolved:critical'], 'resolved'],
  [
    'one alert after the other',
    {},
    results('cowo'),
    ['opened:critical', 'resolved:critical', 'opened:warning', 'resolved:warning'],
    'resolved',
  ],
  [
    'a client that does not want it is not notified of the end',
    { notifyResolved: false },
    results('co'),
    ['opened:critical'],
    'resolved',
  ],

  ['below the threshold no message goes out', { failureThreshold: 3 }, results('cc'), [], 'open'],
  ['at the threshold a message goes out', { failureThreshold: 3 }, results('ccc'), ['opened:critical'], 'open'],
  ['what ends below the threshold sends no message', { failureThreshold: 3 }, results('cco'), [], 'resolved'],
  [
    'a good result between restarts the count',
    { failureThreshold: 3, recoveryThreshold: 2 },
    results('ccocc'),
    [],
    'open',
  ],
  ['warnings and criticals count together', { failureThreshold: 3 }, results('wcw'), ['opened:warning'], 'open'],
  [
    'an error between neither counts nor ends the count',
    { failureThreshold: 3 },
    results('ceecec'),
    ['opened:critical'],
    'open',
  ],
  [
    'it takes as many good results as the probe wants',
    { recoveryThreshold: 3 },
    results('coo'),
    ['opened:critical'],
    'open',
  ],
  [
    'and then it is over',
    { recoveryThreshold: 3 },
    results('cooo'),
    ['opened:critical', 'resolved:critical'],
    'resolved',
  ],
  ['a bad one between restarts that count', { recoveryThreshold: 3 }, results('coocoo'), ['opened:critical'], 'open'],
  [
    'errors do not end the count of good results',
    { recoveryThreshold: 2 },
    results('coeo'),
    ['opened:critical', 'resolved:critical'],
    'resolved',
  ],

  ['errors alone open nothing about the target', {}, results('eeeee'), [], 'none'],
  ['an error does not resolve', {}, results('ce'), ['opened:critical'], 'open'],

  [
    'a warning that becomes critical notifies again',
    {},
    results('wc'),
    ['opened:warning', 'escalated:critical'],
    'open',
  ],
  ['becoming less is silent', {}, results('cw'), ['opened:critical'], 'open'],
  [
    'up and down within the hour notifies once',
    {},
    results('wcwcwc'),
    ['opened:warning', 'escalated:critical'],
    'open',
  ],
  [
    'an hour later it is news again',
    {},
    [...results('cw'), { wait: HOUR }, 'c'],
    ['opened:critical', 'escalated:critical'],
    'open',
  ],
  [
    'an escalation before the first message is part of it',
    { failureThreshold: 2 },
    results('wc'),
    ['opened:critical'],
    'open',
  ],

  [
    'acknowledged, it goes on and notifies when it resolves',
    {},
    ['c', ACK, 'c', 'o'],
    ['opened:critical', 'resolved:critical'],
    'resolved',
  ],
  ['acknowledged, it stays so with the next bad result', {}, ['c', ACK, 'c'], ['opened:critical'], 'acknowledged'],
  ['acknowledged, it still escalates', {}, ['w', ACK, 'c'], ['opened:warning', 'escalated:critical'], 'acknowledged'],
  ['acknowledged twice is acknowledged once', {}, ['c', ACK, ACK], ['opened:critical'], 'acknowledged'],

  [
    'resolved by hand, it notifies of the end',
    {},
    ['c', RESOLVE],
    ['opened:critical', 'resolved:critical'],
    'resolved',
  ],
  [
    'resolved by hand, the next bad result opens another',
    {},
    ['c', RESOLVE, 'c'],
    ['opened:critical', 'resolved:critical', 'opened:critical'],
    'open',
  ],
  [
    'resolved by hand, the next good result does nothing',
    {},
    ['c', RESOLVE, 'o'],
    ['opened:critical', 'resolved:critical'],
    'resolved',
  ],
  ['resolved by hand before the first message, it sends none', { failureThreshold: 2 }, ['c', RESOLVE], [], 'resolved'],
  ['when the probe goes, the alert resolves without a message', {}, ['c', REMOVE], ['opened:critical'], 'resolved'],

  [
    'reminders come in their time',
    { reminderMinutes: 30 },
    ['c', { wait: 28 * MINUTE }, TICK, TICK, TICK],
    ['opened:critical', 'reminder:critical'],
    'open',
  ],
  [
    'and again',
    { reminderMinutes: 5 },
    ['c', { wait: 5 * MINUTE }, TICK, { wait: 5 * MINUTE }, TICK],
    ['opened:critical', 'reminder:critical', 'reminder:critical'],
    'open',
  ],
  [
    'a bad result may bring the reminder as well',
    { reminderMinutes: 5 },
    ['c', { wait: 5 * MINUTE }, 'c', TICK],
    ['opened:critical', 'reminder:critical'],
    'open',
  ],
  [
    'an acknowledged alert sends no reminders',
    { reminderMinutes: 5 },
    ['c', ACK, { wait: HOUR }, TICK],
    ['opened:critical'],
    'acknowledged',
  ],
  ['without a setting there are none', {}, ['c', { wait: 24 * HOUR }, TICK], ['opened:critical'], 'open'],
  [
    'an alert without a first message sends none',
    { reminderMinutes: 5, failureThreshold: 2 },
    ['c', { wait: HOUR }, TICK],
    [],
    'open',
  ],

  ['silenced, no message goes out', {}, [SILENCE, 'c', TICK, 'c'], [], 'open'],
  ['what is still bad when a silence ends notifies then', {}, [SILENCE, 'c', SPEAK, TICK], ['opened:critical'], 'open'],
  ['or with the next bad result', {}, [SILENCE, 'c', SPEAK, 'c', TICK], ['opened:critical'], 'open'],
  ['what ended meanwhile is not', {}, [SILENCE, 'c', 'o', SPEAK, TICK, 'o'], [], 'resolved'],
  [
    'an escalation in a silence notifies after it',
    {},
    ['w', SILENCE, 'c', SPEAK, TICK],
    ['opened:warning', 'escalated:critical'],
    'open',
  ],
  ['the end in a silence sends no message', {}, ['c', SILENCE, 'o', SPEAK, 'o'], ['opened:critical'], 'resolved'],
  [
    'reminders wait for the end of a silence',
    { reminderMinutes: 5 },
    ['c', SILENCE, { wait: HOUR }, TICK, SPEAK, TICK],
    ['opened:critical', 'reminder:critical'],
    'open',
  ],
  ['maintenance mutes as well', {}, [MAINTENANCE, 'c', 'c', SPEAK, TICK], ['opened:critical'], 'open'],
  [
    'below the threshold the end of a silence sends nothing',
    { failureThreshold: 2 },
    [SILENCE, 'c', SPEAK, TICK],
    [],
    'open',
  ],

  [
    'flapping is notified once, then nothing is sent and it stays open',
    {},
    results('ocococococococo'),
    ['opened:critical', 'resolved:critical', 'opened:critical', 'flapping:critical'],
    'open',
  ],
  [
    'after ten results without a change it is over',
    {},
    results('ocococ ooooooooooo'),
    ['opened:critical', 'resolved:critical', 'opened:critical', 'flapping:critical', 'resolved:critical'],
    'resolved',
  ],
  [
    'nine are not enough',
    {},
    results('ocococ oooooooooo'),
    ['opened:critical', 'resolved:critical', 'opened:critical', 'flapping:critical'],
    'open',
  ],
  [
    'or it lasts, and is an alert like others again',
    {},
    results('ococo ccccccccccc'),
    ['opened:critical', 'resolved:critical', 'opened:critical', 'flapping:critical'],
    'open',
  ],
  [
    'a warning that flaps and becomes critical notifies at once, and once',
    { recoveryThreshold: 2 },
    results('wowowocococ'),
    ['opened:warning', 'flapping:warning', 'escalated:critical'],
    'open',
  ],
  ['flapping below the threshold is nothing', { failureThreshold: 2 }, results('ocococococococ'), [], 'open'],
  ['flapping in a silence is not said', {}, ['o', SILENCE, ...results('cocococococ')], [], 'open'],
  [
    'flapping that begins in a silence is said once when that ends',
    { recoveryThreshold: 2 },
    ['w', SILENCE, ...results('owowo'), SPEAK, TICK, TICK],
    ['opened:warning', 'flapping:warning'],
    'open',
  ],
  [
    'a flapping alert sends no reminders',
    { reminderMinutes: 5 },
    [...results('ocococo'), { wait: HOUR }, TICK],
    ['opened:critical', 'resolved:critical', 'opened:critical', 'flapping:critical'],
    'open',
  ],
  [
    'between warning and critical nothing flaps',
    {},
    results('wcwcwcwcwc'),
    ['opened:warning', 'escalated:critical'],
    'open',
  ],
  [
    'resolved by hand while it flaps, it notifies of the end',
    {},
    [...results('ocococo'), RESOLVE],
    ['opened:critical', 'resolved:critical', 'opened:critical', 'flapping:critical', 'resolved:critical'],
    'resolved',
  ],
]

for (const [title, rules, steps, messages, state] of ROWS) {
  test(title, () => {
    const seen = play(steps, rules)
    assert.deepEqual(seen.messages, messages, seen.events.join(' '))
    assert.equal(seen.alert?.state ?? 'none', state, seen.events.join(' '))
  })
}

const EVENT_ROWS: readonly Row[] = [
  [
    'a second event on which a tag breaks notifies',
    {},
    [{ bad: ['purchase'] }, { bad: ['purchase', 'lead'] }],
    ['opened:critical', 'widened:critical'],
    'open',
  ],
  [
    'a tag that broke on all its events at once notifies once, whichever of them show it',
    {},
    [{ bad: ['purchase', 'lead', 'view'] }, { bad: ['lead'] }, { bad: ['view', 'purchase'] }],
    ['opened:critical'],
    'open',
  ],
  [
    'an event that flaps beside one that lasts notifies once',
    {},
    [{ bad: ['a'] }, { bad: ['a', 'b'] }, { bad: ['a'] }, { bad: ['a', 'b'] }, { bad: ['b'] }],
    ['opened:critical', 'widened:critical'],
    'open',
  ],
  [
    'an event that takes the place of another notifies, and is the same alert',
    {},
    [{ bad: ['a'] }, { bad: ['b'] }, 'o'],
    ['opened:critical', 'widened:critical', 'resolved:critical'],
    'resolved',
  ],
  [
    'a second event before the first message is part of it',
    { failureThreshold: 2 },
    [{ bad: ['a'] }, { bad: ['a', 'b'] }, { bad: ['a', 'b'] }],
    ['opened:critical'],
    'open',
  ],
  [
    'a second event notifies though someone takes care of the first',
    {},
    [{ bad: ['a'] }, ACK, { bad: ['a', 'b'] }],
    ['opened:critical', 'widened:critical'],
    'acknowledged',
  ],
  [
    'a second event in a silence notifies when that ends',
    {},
    [{ bad: ['a'] }, SILENCE, { bad: ['a', 'b'] }, SPEAK, TICK, TICK],
    ['opened:critical', 'widened:critical'],
    'open',
  ],
  [
    'the next alert of the tag knows nothing of the events of the last',
    {},
    [{ bad: ['a', 'b'] }, 'o', { bad: ['b'] }, { bad: ['a', 'b'] }],
    ['opened:critical', 'resolved:critical', 'opened:critical', 'widened:critical'],
    'open',
  ],
]
for (const [title, rules, steps, messages, state] of EVENT_ROWS) {
  test(title, () => {
    const seen = play(steps, rules)
    assert.deepEqual(seen.messages, messages, seen.events.join(' '))
    assert.equal(seen.alert?.state, state)
  })
}

test('the timeline names the events that a tag breaks on later', () => {
  const { events, alert } = play([{ bad: ['a'] }, { bad: ['a', 'b'] }])
  assert.deepEqual(events, ['opened', 'notified', 'widened', 'notified'])
  assert.deepEqual([alert?.bad_events, alert?.told_events], ['["a","b"]', 2])
})

const CHECK_ROWS: readonly [title: string, letters: string, messages: string[], state: string][] = [
  ['two errors in a row say nothing about the check', 'oee', [], 'none'],
  ['three do', 'oeee', ['opened:warning'], 'open'],
  ['more of them notify once', 'oeeeeee', ['opened:warning'], 'open'],
  ['a good result ends it', 'eeeo', ['opened:warning', 'resolved:warning'], 'resolved'],
  ['so does a bad one', 'eeec', ['opened:warning', 'resolved:warning'], 'resolved'],
  ['other results between restart the count', 'eeoee', [], 'none'],
  [
    'a check that fails again and again notifies each time',
    'eeeoeeeo',
    ['opened:warning', 'resolved:warning', 'opened:warning', 'resolved:warning'],
    'resolved',
  ],
]
for (const [title, letters, messages, state] of CHECK_ROWS) {
  test(`of the check itself: ${title}`, () => {
    const seen = play(results(letters), {}, 'check')
    assert.deepEqual(seen.messages, messages)
    assert.equal(seen.alert?.state ?? 'none', state)
  })
}

const STATES: readonly [
  title: string,
  rules: Partial<Rules>,
  steps: readonly PlayStep[],
  expected: Record<string, unknown>,
][] = [
  [
    'an opened alert says since when and how often',
    {},
    results('ccc'),
    { occurrences: 3, severity: 'critical', subject: 'target' },
  ],
  ['what suppressed it is named', {}, [SILENCE, 'c'], { suppressed_by: 'silence:1', first_notified_at: null }],
  ['and no longer once it has notified', {}, [SILENCE, 'c', SPEAK, TICK], { suppressed_by: null }],
  ['a held reminder is', REMINDED, ['c', { wait: 10 * MINUTE }, SILENCE, 'c'], { suppressed_by: 'silence:1' }],
  [
    'and no longer once someone works on it',
    REMINDED,
    ['c', { wait: 10 * MINUTE }, SILENCE, TICK, ACK, TICK],
    { suppressed_by: null },
  ],
  ['what is still to be said stays held', REMINDED, ['w', SILENCE, 'c', ACK, 'c'], { suppressed_by: 'silence:1' }],
  [
    'maintenance after a silence is named then',
    {},
    [SILENCE, 'c', MAINTENANCE, TICK],
    { suppressed_by: 'maintenance:1' },
  ],
  ['who acknowledged is named', {}, ['c', ACK], { acknowledged_by: 'ops', state: 'acknowledged' }],
  ['resolved automatically', {}, results('co'), { resolution: 'recovered' }],
  ['resolved by hand', {}, ['c', RESOLVE], { resolution: 'manual' }],
  ['resolved because the probe went', {}, ['c', REMOVE], { resolution: 'probe_removed' }],
  ['flapping shows', {}, results('ococo'), { is_flapping: 1 }],
  ['and ends', {}, results('ococo ccccccccccc'), { is_flapping: 0 }],
  [
    'the last message is kept',
    {},
    results('cw'),
    { message: 'it is warning', severity: 'warning', notified_severity: 'critical' },
  ],
]
for (const [title, rules, steps, expected] of STATES) {
  test(`the record: ${title}`, () => {
    const { alert } = play(steps, rules)
    assert.ok(alert !== null)
    const shown = Object.fromEntries(
      Object.keys(expected).map((name) => [name, Object.entries(alert).find(([key]) => key === name)?.[1]]),
    )
    assert.deepEqual(shown, expected)
  })
}

test('the timeline lists everything that happened, in order', () => {
  const steps: PlayStep[] = ['w', 'c', ACK, 'w', RESOLVE]
  assert.deepEqual(play(steps, { failureThreshold: 2 }).events, [
    'opened',
    'escalated',
    'confirmed',
    'notified',
    'acknowledged',
    'eased',
    'resolved',
    'notified',
  ])
  assert.deepEqual(play([SILENCE, 'c', 'c', SPEAK, TICK]).events, ['opened', 'suppressed', 'notified'])
})

test('what changes nothing returns the very same alert, so that nothing is written', async () => {
  const { transition } = await import('../../src/alerts/machine/transition.ts')
  const { alert } = play(results('c'))
  const rules = {
    failureThreshold: 1,
    recoveryThreshold: 1,
    reminderMinutes: 5,
    notifyResolved: true,
    suppressedBy: null,
  }
  assert.equal(transition(alert, { type: 'time' }, rules, (alert?.opened_at ?? 0) + 1).alert, alert)
})

test('no order of results notifies of an end without a beginning, or of two beginnings in a row', () => {
  const letters = ['o', 'w', 'c', 'e'] as const
  const plays = 4 ** 7
  for (let number = 0; number < plays; number++) {
    const steps = Array.from({ length: 7 }, (_, place) => letters[Math.floor(number / 4 ** place) % 4] ?? 'o')
    const kinds = play(steps, { failureThreshold: 1 + (number % 3), recoveryThreshold: 1 + (number % 2) }).messages.map(
      (message) => message.split(':')[0],
    )
    let isNotified = false
    for (const kind of kinds) {
      if (kind === 'opened') assert.ok(!isNotified, `${steps.join('')}: ${kinds.join(' ')}`)
      if (kind === 'resolved') assert.ok(isNotified, `${steps.join('')}: ${kinds.join(' ')}`)
      if (kind === 'opened' || kind === 'flapping') isNotified = true
      if (kind === 'resolved') isNotified = false
    }
  }
})

test('a reminder is due an interval after a message has arrived, and never while one is pending', () => {
  const now = Date.parse('2026-11-20T10:00:00Z')
  const arrived = now - 5 * MINUTE
  const alert = { state: 'open', last_announced_at: arrived, last_notified_at: arrived }
  for (const [why, over, minutes, isDue] of [
    ['an interval ago', {}, 5, true],
    ['a moment less ago', {}, 5 + 1 / MINUTE, false],
    ['a later message is pending', { last_announced_at: arrived + MINUTE }, 5, false],
    ['the clock was ahead', { last_announced_at: now + 6 * MINUTE }, 5, true],
    ['none has arrived', { last_notified_at: null }, 5, false],
    ['someone works on it', { state: 'acknowledged' }, 5, false],
    ['the client wants none', {}, null, false],
  ] as const) {
    assert.equal(isReminderDue({ ...alert, ...over }, minutes, now), isDue, why)
  }
})

test('a result may move the beginning of an alert back, until people may know of it, and adds at most 100 events', () => {
  const { alert } = play(results('c'), { failureThreshold: 2 })
  assert.ok(alert)
  const { subject_label, severity, title, message, details, started_at } = alert
  const streak = { verdict: 'bad', badInRow: 1, goodInRow: 0, flips: 0, sinceFlip: 1 } as const
  const found = (startedAt: number, events: readonly string[] = []) => ({
    type: 'result' as const,
    identity: alert,
    violation: {
      subject_label,
      severity: severity === 'critical' ? ('critical' as const) : ('warning' as const),
      title,
      message,
      details,
    },
    streak,
    startedAt,
    events,
  })
  const startOf = (startedAt: number, before = alert) =>
    addViolation(before, found(startedAt), { ...RULES, failureThreshold: 2 }, started_at + HOUR).after.started_at
  assert.equal(startOf(started_at - HOUR), started_at - HOUR)
  assert.equal(startOf(started_at + MINUTE), started_at)
  assert.equal(startOf(started_at - HOUR, { ...alert, confirmed_at: started_at }), started_at)
  const many = Array.from({ length: 99 }, (_, n) => `event ${n}`)
  const full = { ...alert, bad_events: JSON.stringify(many) }
  const { after } = addViolation(full, found(started_at, ['one', 'two']), RULES, started_at + HOUR)
  assert.deepEqual(JSON.parse(after.bad_events), [...many, 'one'])
})
