import assert from 'node:assert/strict'
import type { NetworkInterfaceInfo } from 'node:os'
import { test } from 'node:test'
import { SECOND, systemClock } from '../../src/lib/index.ts'
import { hasIpv6, ownAddresses, parseAddress } from '../../src/outbound/address.ts'
import { createOutbound, parseOutboundAllow } from '../../src/outbound/index.ts'
import { countSockets, failureOf, lookupIn } from './support.ts'

const on = (cidr: string): NetworkInterfaceInfo => {
  const [address = ''] = cidr.split('/')
  const rest = { address, cidr, netmask: '', mac: '', internal: false }
  return address.includes(':') ? { ...rest, family: 'IPv6', scopeid: 0 } : { ...rest, family: 'IPv4' }
}

const isOwn = (own: ReturnType<typeof ownAddresses>, text: string): boolean => {
  const address = parseAddress(text)
  assert.ok(address !== null, text)
  return own(address)
}

test('public addresses of an interface are own: of IPv4 the address, of IPv6 its network', () => {
  const own = ownAddresses(() => ({
    eth0: [on('93.184.215.14/24'), on('2606:4700:1:2::5/64'), on('fe80::1/64')],
    tun0: [on('2a00:1450::7/32')],
    down0: undefined,
  }))
  for (const text of [
    '93.184.215.14',
    '::ffff:93.184.215.14',
    '64:ff9b::5db8:d70e',
    '2606:4700:1:2::5',
    '2606:4700:1:2:9::1',
    '2a00:1450::7',
  ]) {
    assert.equal(isOwn(own, text), true, text)
  }
  for (const text of ['93.184.215.15', '2606:4700:1:3::5', '2a00:1450::8']) assert.equal(isOwn(own, text), false, text)
})

test('an address that comes or goes is known ten seconds later, and interfaces are not listed for each request', () => {
  let now = 0
  let listed = 0
  let cidr = '93.184.215.14/24'
  const own = ownAddresses(
    () => {
      listed++
      return { eth0: [on(cidr)] }
    },
    () => now,
  )
  assert.equal(isOwn(own, '93.184.215.14'), true)
  cidr = '93.184.215.99/24'
  now = 10 * SECOND - 1
  assert.equal(isOwn(own, '93.184.215.99'), false)
  assert.equal(listed, 1)
  now++
  assert.equal(isOwn(own, '93.184.215.99'), true)
  assert.equal(isOwn(own, '93.184.215.14'), false)
  assert.equal(listed, 2)
})

test('a machine that does not list its addresses says so of itself, and asks no one', async (t) => {
  const opened = countSockets(t)
  const { request, resolve } = createOutbound({
    allow: parseOutboundAllow(''),
    userAgent: 'test',
    clock: systemClock,
    lookup: lookupIn({ 'shop.example': ['93.184.215.14'] }),
    interfaces: () => {
      throw new Error('uv_interface_addresses returned Unknown system error 97')
    },
  })
  for (const ask of [() => request('http://shop.example/'), () => resolve('shop.example')]) {
    const { kind, message } = await failureOf(ask())
    assert.deepEqual(
      [kind, message],
      ['interrupted', "this machine's own addresses could not be listed (systemd: AF_NETLINK)"],
    )
  }
  assert.equal(opened(), 0)
})

test('a request to an own public address is refused before a socket is opened, unless it is allowed', async (t) => {
  const opened = countSockets(t)
  const outbound = (allow: string) =>
    createOutbound({
      allow: parseOutboundAllow(allow),
      userAgent: 'test',
      clock: systemClock,
      lookup: lookupIn({ 'me.example': ['93.184.215.14'] }),
      interfaces: () => ({ eth0: [on('93.184.215.14/24'), on('2606:4700:1:2::5/64')] }),
    })
  for (const host of ['93.184.215.14', 'me.example', '[2606:4700:1:2::5]', '[2606:4700:1:2::77]']) {
    const failure = await failureOf(outbound('').request(`http://${host}/`))
    assert.equal(failure.kind, 'forbidden_address', host)
    assert.match(failure.message, /points to the machine itself or its network/)
  }
  assert.equal(opened(), 0)
  assert.deepEqual((await outbound('93.184.215.14').resolve('me.example')).addresses, ['93.184.215.14'])
})

test('a machine has IPv6 only with a public address of it', () => {
  const has = (...cidrs: string[]) => hasIpv6(() => ({ eth0: cidrs.map(on) }))
  assert.equal(has('10.0.0.2/24', '::1/128', 'fe80::1/64', 'fd00::2/64'), false)
  assert.equal(has('10.0.0.2/24', '2606:4700:1:2::5/64'), true)
})

test('a target with IPv6 alone is not down because this machine has no IPv6', async () => {
  const failing = (hasAny: boolean) =>
    failureOf(
      createOutbound({
        allow: parseOutboundAllow('six.example'),
        userAgent: 'test',
        clock: systemClock,
        // TCP refuses an address of many machines as one without a route, on any machine.
        lookup: lookupIn({ 'six.example': ['ff0e::1'] }),
        interfaces: () => ({ eth0: [on('10.0.0.2/24'), ...(hasAny ? [on('2606:4700:1:2::5/64')] : [])] }),
      }).request('http://six.example/'),
    )
  const without = await failing(false)
  assert.deepEqual(
    [without.kind, without.phase, without.message],
    ['no_network', 'connect', 'six.example can only be reached by IPv6, which this server does not have'],
  )
  assert.equal((await failing(true)).kind, 'unreachable')
})
