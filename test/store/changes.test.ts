import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type Change, ChangeFeed } from '../../src/store/index.ts'

const CHANGE: Change = { kind: 'site', id: 'a' }

test('publish resolves when every listener has applied the change', async () => {
  const feed = new ChangeFeed()
  const taken: string[] = []
  feed.subscribe(async (change) => {
    await setImmediate()
    taken.push(`slow ${change.id}`)
  })
  feed.subscribe((change) => void taken.push(`quick ${change.kind}`))
  await feed.publish(CHANGE)
  assert.deepEqual(taken, ['quick site', 'slow a'])
})

test('a listener that has ended its subscription receives no more changes, the others do', async () => {
  const feed = new ChangeFeed()
  const received: string[] = []
  const end = feed.subscribe(() => void received.push('first'))
  feed.subscribe(() => void received.push('second'))
  await feed.publish(CHANGE)
  end()
  end()
  await feed.publish(CHANGE)
  assert.deepEqual(received, ['first', 'second', 'second'])
})

test('a change without listeners is gone: a later listener receives only the next one', async () => {
  const feed = new ChangeFeed()
  await feed.publish(CHANGE)
  const received: string[] = []
  feed.subscribe(({ id }) => void received.push(id))
  await feed.publish({ kind: 'site', id: 'b' })
  assert.deepEqual(received, ['b'])
})

test('publish succeeds when a listener fails, because the change is committed; what was delivered fails', async () => {
  const feed = new ChangeFeed()
  const received: string[] = []
  feed.subscribe(async () => {
    throw new Error('not now')
  })
  feed.subscribe(({ id }) => void received.push(id))
  await feed.publish(CHANGE)
  await assert.rejects(feed.deliver(CHANGE), /not now/)
  assert.deepEqual(received, ['a', 'a'])
})
