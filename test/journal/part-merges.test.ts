import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PartMerges } from '../../src/journal/part-merges.ts'
import { MINUTE, SECOND } from '../../src/lib/index.ts'

const cells = (...minutes: number[]) => minutes.map((minute) => ({ minute: minute * MINUTE }))
/** Half a minute into it. */
const within = (minute: number) => minute * MINUTE + 30 * SECOND

test('a minute with several parts is to be merged once the one after the next begins', () => {
  const merges = new PartMerges()
  merges.note(1, cells(10))
  merges.note(1, cells(10))
  merges.note(2, cells(10))
  assert.deepEqual(merges.take(9, within(11)), [])
  // A lane whose counts waited.
  merges.note(2, cells(10))
  assert.deepEqual(merges.take(9, within(12)), [
    { siteNo: 1, minute: 10 * MINUTE },
    { siteNo: 2, minute: 10 * MINUTE },
  ])
  assert.deepEqual(merges.take(9, within(12)), [])
})

test('a few late events cause no merge, nor do more minutes than senders may be ahead', () => {
  const merges = new PartMerges()
  assert.deepEqual(merges.take(9, within(100)), [])
  for (let time = 0; time < 2; time++) {
    merges.note(1, cells(...Array.from({ length: 99 }, (_, minute) => minute)))
    merges.note(1, cells(...Array.from({ length: 100 }, (_, ahead) => 100 + ahead)))
  }
  assert.deepEqual(merges.take(900, within(101)), [])
  assert.equal(merges.take(900, within(300)).length, 7)
})

test('a sender whose clock is ahead keeps no minute of others from being merged', () => {
  const merges = new PartMerges()
  const merged: number[] = []
  for (let minute = 10; minute < 20; minute++) {
    for (let fold = 0; fold < 3; fold++) {
      merges.note(1, cells(minute + 5))
      merges.note(2, cells(minute))
      for (const { siteNo, minute: due } of merges.take(9, within(minute))) if (siteNo === 2) merged.push(due / MINUTE)
    }
  }
  assert.deepEqual(merged, [10, 11, 12, 13, 14, 15, 16, 17])
})

test('minutes that a sender keeps adding late parts to are merged again and again', () => {
  const merges = new PartMerges()
  merges.take(9, within(100))
  for (let fold = 1; fold <= 60; fold++) {
    for (let siteNo = 1; siteNo <= 3; siteNo++) merges.note(siteNo, cells(...Array.from({ length: 60 }, (_, n) => n)))
    const due = merges.take(900, within(100))
    assert.equal(due.length, fold % 20 === 0 ? 3 * 60 : 0)
  }
})

test('as many are taken as asked for', () => {
  const merges = new PartMerges()
  for (let siteNo = 1; siteNo <= 5; siteNo++) for (let part = 0; part < 3; part++) merges.note(siteNo, cells(7))
  assert.equal(merges.take(3, within(9)).length, 3)
  assert.equal(merges.take(3, within(9)).length, 2)
})

test('the oldest minutes are merged first, whichever was noted first', () => {
  const merges = new PartMerges()
  for (const minute of [9, 7, 8]) for (let part = 0; part < 2; part++) merges.note(1, cells(minute))
  assert.deepEqual(
    [1, 2, 3].flatMap(() => merges.take(1, within(20))).map(({ minute }) => minute / MINUTE),
    [7, 8, 9],
  )
})

test('no number of sites, minutes or late parts fills the memory', () => {
  const merges = new PartMerges()
  const note = (sites: number, minute: number) => {
    for (let siteNo = 1; siteNo <= sites; siteNo++) merges.note(siteNo, cells(minute))
  }
  note(20_001, 10)
  for (const siteNo of [20_000, 20_001, 20_001]) merges.note(siteNo, cells(10))
  assert.deepEqual(merges.take(9, within(12)), [{ siteNo: 20_000, minute: 10 * MINUTE }])
  for (let part = 0; part < 2; part++) note(6_001, 12)
  assert.equal(merges.take(9_000, within(14)).length, 6_000)
  assert.deepEqual(merges.take(9, within(100_000)), [])
  // Nineteen late parts of a minute are forgotten once there were some of 20,000 other minutes since.
  for (const others of [19_999, 20_000]) {
    for (let part = 0; part < 19; part++) merges.note(30_000, cells(1))
    note(others, 2 + others)
    merges.note(30_000, cells(1))
    assert.equal(merges.take(9, within(100_000)).length, others === 20_000 ? 0 : 1)
  }
})
