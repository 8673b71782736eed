import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Places } from '../../src/probes/places.ts'

/** Work that ends when told to. */
function work<T>(value: T) {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  let hasBegun = false
  return {
    begin: () => {
      hasBegun = true
      return promise
    },
    end: () => resolve(value),
    fail: reject,
    hasBegun: () => hasBegun,
  }
}

test('work is begun in its order, as many at once as there are places', async () => {
  const places = new Places(2, 2)
  const jobs = [work('a'), work('b'), work('c'), work('d')]
  const ends = jobs.map((job) => places.run(job.begin))
  assert.deepEqual(
    jobs.map((job) => job.hasBegun()),
    [true, true, false, false],
  )
  assert.deepEqual([places.busy, places.room], [2, 0])
  jobs[1]?.end()
  assert.equal(await ends[1], 'b')
  assert.deepEqual(
    jobs.map((job) => job.hasBegun()),
    [true, true, true, false],
  )
  assert.equal(places.room, 1)
  for (const job of jobs) job.end()
  assert.deepEqual(await Promise.all(ends), ['a', 'b', 'c', 'd'])
})

test('work that fails frees its place and tells whoever asked for it', async () => {
  const places = new Places(1, 1)
  const [bad, good] = [work('bad'), work('good')]
  const ends = [places.run(bad.begin), places.run(good.begin)]
  bad.fail(new Error('no'))
  await assert.rejects(ends[0] ?? Promise.resolve(), /no/)
  good.end()
  assert.equal(await ends[1], 'good')
  assert.equal(places.busy, 0)
})

test('what waits for a place can be dropped; what has one goes on', async () => {
  const places = new Places(1, 2)
  const [first, second] = [work('first'), work('second')]
  const ends = [places.run(first.begin), places.run(second.begin)]
  places.dropQueue()
  assert.equal(await ends[1], undefined)
  first.end()
  assert.equal(await ends[0], 'first')
  assert.equal(second.hasBegun(), false)
})

test('work waits for its time without a place, and can be dropped before it has come', async () => {
  const places = new Places(1, 2)
  const [soon, later, now] = [work('soon'), work('later'), work('now')]
  const waits = [5, 1, 0]
  const ends = [
    places.run(soon.begin, () => waits.shift() ?? 0),
    places.run(later.begin, () => 60_000),
    places.run(now.begin),
  ]
  assert.deepEqual([soon.hasBegun(), now.hasBegun()], [false, true])
  assert.deepEqual([places.busy, places.room], [1, 0])
  now.end()
  soon.end()
  assert.deepEqual(await Promise.all([ends[2], ends[0]]), ['now', 'soon'])
  assert.deepEqual([waits, places.busy, places.room], [[], 0, 2])
  places.dropQueue()
  assert.equal(await ends[1], undefined)
  assert.deepEqual([later.hasBegun(), places.room], [false, 3])
})
