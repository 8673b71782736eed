import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BetweenReleases, LookAhead } from '../../../src/cli/demo/look-ahead.ts'
import { HOUR, MINUTE } from '../../../src/lib/index.ts'
import type { ProbeOutcome } from '../../../src/probes/probe-type.ts'

const INTERVAL = 5 * MINUTE
const FROM = Date.parse('2026-11-20T04:02:13Z')
const TO = FROM + 4 * HOUR

const fine = (message = 'fine'): ProbeOutcome => ({ status: 'ok', message, details: { judged: 1 } })
const bad: ProbeOutcome = { status: 'warning', message: 'bad', details: { judged: 1 } }

/** What is found at every time, and how often the probe was run for it. */
async function ask(outcomeAt: (time: number) => ProbeOutcome) {
  const made: number[] = []
  const make = (at: number) => {
    made.push(at)
    return Promise.resolve({ outcome: outcomeAt(at), attempts: 1, executedAt: at })
  }
  const lookAhead = new LookAhead(make, INTERVAL)
  const times = Array.from({ length: (TO - FROM) / INTERVAL }, (_, n) => FROM + n * INTERVAL)
  for (const time of times) {
    assert.deepEqual(await lookAhead.at(time, TO), { outcome: outcomeAt(time), attempts: 1, executedAt: time })
  }
  assert.ok(made.every((time) => time < TO))
  assert.equal(new Set(made).size, made.length, 'no run is made twice')
  return { asked: times.length, made: made.length }
}

test('runs between two that find the same are not made', async () => {
  const { asked, made } = await ask(() => fine())
  assert.deepEqual([asked, made], [48, 5])
})

test('where the finding changes, every run from there on says so', async () => {
  for (let at = FROM; at < TO; at += 7 * MINUTE) {
    const { asked, made } = await ask((time) => fine(time < at ? 'before' : 'after'))
    assert.ok(made < asked / 3, `${made} of ${asked}`)
  }
})

test('every run is made of what is bad, and of what is something else each time', async () => {
  const fault = (time: number) => time >= FROM + HOUR && time < FROM + 2 * HOUR
  assert.ok((await ask((time) => (fault(time) ? bad : fine()))).made >= 12)
  const { asked, made } = await ask((time) => fine(String(time)))
  assert.equal(made, asked)
})

test('what only a release changes is asked for twice after each', async () => {
  const releases = [FROM + HOUR, FROM + 3 * HOUR]
  const made: number[] = []
  const make = (at: number) => {
    made.push(at)
    const version = releases.filter((release) => release <= at).length
    const outcome = { ...fine(`version ${version}`), responseTimeMs: made.length }
    return Promise.resolve({ outcome, attempts: 1, executedAt: at })
  }
  const runs = new BetweenReleases(make, releases)
  for (let time = FROM; time < TO; time += INTERVAL) {
    const { outcome, executedAt } = await runs.at(time, time)
    assert.equal(outcome.message, `version ${releases.filter((release) => release <= time).length}`)
    assert.equal(executedAt, time)
  }
  const second = (time: number) => [time, time + INTERVAL]
  assert.deepEqual(made, [FROM, ...releases].flatMap(second))
})
