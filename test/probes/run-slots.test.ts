import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RunSlots } from '../../src/probes/run-slots.ts'

/** Work that ends when the test says so. */
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

test('work is begun in its order, as many at once as there are slots', async () => {
  const slots = new RunSlots(2, 2)
  const jobs = [work('a'), work('b'), work('c'), work('d')]
  const ends = jobs.map((job) => slots.run('acme', job.begin))
  assert.deepEqual(
    jobs.map((job) => job.hasBegun()),
    [true, true, false, false],
  )
  assert.deepEqual([slots.busy, slots.room], [2, 0])
  jobs[1]?.end()
  assert.equal(await ends[1], 'b')
  assert.deepEqual(
    jobs.map((job) => job.hasBegun()),
    [true, true, true, false],
  )
  assert.equal(slots.room, 1)
  for (const job of jobs) job.end()
  assert.deepEqual(await Promise.all(ends), ['a', 'b', 'c', 'd'])
})

test('owners take turns: who has much waiting delays no one else', async () => {
  const slots = new RunSlots(1, 9)
  const begun: string[] = []
  const run = (owner: string, name: string) =>
    slots.run(owner, async () => {
      begun.push(name)
    })
  const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']
  await Promise.all(names.map((name) => run(name.charAt(0), name)))
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
})

test('work that fails frees its slot and rejects for its caller', async () => {
  const slots = new RunSlots(1, 1)
  const [bad, good] = [work('bad'), work('good')]
  const ends = [slots.run('acme', bad.begin), slots.run('acme', good.begin)]
  bad.fail(new Error('no'))
  await assert.rejects(ends[0] ?? Promise.resolve(), /no/)
  good.end()
  assert.equal(await ends[1], 'good')
  assert.equal(slots.busy, 0)
})

test('what waits for a slot can be dropped; what has one goes on', async () => {
  const slots = new RunSlots(1, 2)
  const [first, second] = [work('first'), work('second')]
  const ends = [slots.run('acme', first.begin), slots.run('acme', second.begin)]
  slots.dropQueue()
  assert.equal(await ends[1], undefined)
  first.end()
  assert.equal(await ends[0], 'first')
  assert.equal(second.hasBegun(), false)
})

test('work waits for its time without a slot, and can be dropped before it has come', async () => {
  const slots = new RunSlots(1, 2)
  const [soon, later, now] = [work('soon'), work('later'), work('now')]
  const ends = [slots.run('acme', soon.begin, 5), slots.run('acme', later.begin, 60_000), slots.run('acme', now.begin)]
  assert.deepEqual([soon.hasBegun(), now.hasBegun()], [false, true])
  assert.deepEqual([slots.busy, slots.room], [1, 0])
  now.end()
  soon.end()
  assert.deepEqual(await Promise.all([ends[2], ends[0]]), ['now', 'soon'])
  assert.deepEqual([slots.busy, slots.room], [0, 2])
  slots.dropQueue()
  assert.equal(await ends[1], undefined)
  assert.deepEqual([later.hasBegun(), slots.room], [false, 3])
})
