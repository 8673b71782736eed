import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import pg from 'pg'
import { StartupError } from '../../../src/lib/index.ts'
import { hostUrls, Rotation } from '../../../src/store/postgres/rotation.ts'
import { listen } from '../../../testkit/listeners.ts'
import { openOn } from './support.ts'

const PASSWORD = 's3cr3t'

/** Where the driver goes with an address. */
function targetOf(url: string) {
  const { host, port, user, password, database } = new pg.Client({ connectionString: url })
  return { host, port, user, password, database }
}

const GOOD: readonly [what: string, url: string, targets: readonly object[]][] = [
  ['one host', 'postgres://u@db/d', [{ host: 'db', port: 5432, user: 'u', database: 'd' }]],
  ['the long name of the scheme', 'postgresql://u@db:1/d', [{ host: 'db', port: 1 }]],
  [
    'several hosts, each with its port',
    'postgres://u@one:1,two:2,three/d',
    [
      { host: 'one', port: 1 },
      { host: 'two', port: 2 },
      { host: 'three', port: 5432 },
    ],
  ],
  [
    'IPv6 addresses',
    'postgres://u@[::1]:5433,[2001:db8::2]/d',
    [
      { host: '::1', port: 5433 },
      { host: '2001:db8::2', port: 5432 },
    ],
  ],
  ['no user', 'postgres://db:7/d', [{ host: 'db', port: 7 }]],
  ['a socket folder as a parameter', 'postgres://u@/d?host=/run/pg', [{ host: '/run/pg', database: 'd' }]],
  ['a socket folder as the host', 'postgres://u@%2Frun%2Fpg/d', [{ host: '/run/pg', database: 'd' }]],
  [
    'a password with encoded characters',
    'postgres://u:a%40b%3Ac%2Fd%2Ce@one,two/d',
    [
      { host: 'one', password: 'a@b:c/d,e' },
      { host: 'two', password: 'a@b:c/d,e' },
    ],
  ],
  ['a password with a bare @ and comma', 'postgres://u:a@b,c@one/d', [{ host: 'one', password: 'a@b,c' }]],
]
for (const [what, url, targets] of GOOD) {
  test(`an address may have ${what}`, () => {
    const found = hostUrls('DATABASE_URL', url).map(targetOf)
    assert.equal(found.length, targets.length)
    for (const [index, target] of targets.entries()) assert.partialDeepStrictEqual(found[index], target)
  })
}

const WRONG: readonly [what: string, url: string, message: RegExp][] = [
  ['another scheme', `mysql://u:${PASSWORD}@db/d`, /an address like postgres:/],
  ['no scheme', `u:${PASSWORD}@db/d`, /an address like postgres:/],
  ['nothing', '', /an address like postgres:/],
  ['an empty host among several', `postgres://u:${PASSWORD}@one,,two/d`, /number 2 of its hosts is not a host/],
  ['a port that is no number', `postgres://u:${PASSWORD}@db:${PASSWORD}/d`, /its host is not a host or host:port/],
  ['a port that is too high', `postgres://u:${PASSWORD}@db:99999/d`, /Invalid URL/],
  ['a bare IPv6 address', `postgres://u:${PASSWORD}@::1/d`, /its host is not a host/],
  ['a slash in the password', `postgres://u:${PASSWORD}/x@db/d`, /@ : \/ \? # are written as %40/],
  ['a question mark in the password', `postgres://u:${PASSWORD}?x@db/d`, /its host is not a host/],
  ['a broken escape in the password', `postgres://u:${PASSWORD}%E0%A4@db/d`, /URI malformed/],
  ['a certificate that is not there', `postgres://u:${PASSWORD}@db/d?sslrootcert=/nowhere/ca.pem`, /ENOENT.*ca\.pem/],
]
for (const [what, url, message] of WRONG) {
  test(`an address with ${what} is one clear line, which does not repeat the password`, () => {
    assert.throws(
      () => hostUrls('DATABASE_READ_URL', url),
      (error) => {
        assert.ok(error instanceof StartupError)
        assert.match(error.message, /^DATABASE_READ_URL is not valid: /)
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /\n/)
        assert.ok(!error.message.includes(PASSWORD))
        return true
      },
    )
  })
}

test('every host of an address is asked for TLS when the address says so', async (t) => {
  const asked: number[] = []
  const hosts = await Promise.all(
    [0, 1].map(async (number) => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined)
        socket.once('data', (data) => {
          // A message of 8 bytes whose code is 80877103 asks for TLS; N says that there is none.
          if (data.readInt32BE(0) === 8 && data.readInt32BE(4) === 80_877_103) asked.push(number)
          socket.end('N')
        })
      })
      t.after(() => server.close())
      return `127.0.0.1:${await listen(server)}`
    }),
  )
  const opening = openOn(t, `postgres://u:${PASSWORD}@${hosts.join(',')}/d?sslmode=verify-full`)
  await assert.rejects(opening, /DATABASE_URL cannot be used: The server does not support SSL connections/)
  assert.deepEqual(asked, [0, 1])
})

test('a rotation goes on to the next address, and after the last to the first', () => {
  const rotation = new Rotation(['a', 'b', 'c'])
  const visited = Array.from({ length: 5 }, () => {
    const { current } = rotation
    rotation.failed(current)
    return current.url
  })
  assert.deepEqual(visited, ['a', 'b', 'c', 'a', 'b'])
})

test('two who find the same address failed go on by one', () => {
  const rotation = new Rotation(['a', 'b', 'c'])
  const { current } = rotation
  rotation.failed(current)
  rotation.failed(current)
  assert.equal(rotation.current.url, 'b')
})

test('with a single address a failed attempt costs the connections that work nothing', () => {
  const rotation = new Rotation(['a'])
  const { current } = rotation
  rotation.failed(current)
  assert.equal(rotation.current, current)
})

test('a broken connection puts those made before it under suspicion, and none made after', () => {
  const rotation = new Rotation(['a', 'b'])
  const old = rotation.current
  rotation.broke(old)
  assert.notEqual(rotation.current, old)
  assert.equal(rotation.current.url, 'a')
  const { current } = rotation
  rotation.broke(old)
  assert.equal(rotation.current, current)
  rotation.failed(old)
  assert.equal(rotation.current, current)
})
