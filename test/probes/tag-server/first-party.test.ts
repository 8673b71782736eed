import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstParty, registrableDomain } from '../../../src/probes/tag-server/outside.ts'

const DOMAINS: readonly [host: string, domain: string | null][] = [
  ['example.com', 'example.com'],
  ['www.example.com', 'example.com'],
  ['a.b.example.com.', 'example.com'],
  ['WWW.Example.DE', 'example.de'],
  ['www.example.co.uk', 'example.co.uk'],
  ['example.com.au', 'example.com.au'],
  ['shop.example.co.jp', 'example.co.jp'],
  ['co.uk', null],
  ['www.co.com', 'co.com'],
  ['server-abc-uc.a.run.app', 'server-abc-uc.a.run.app'],
  ['x.y-abc.a.run.app', 'y-abc.a.run.app'],
  ['tags.shop.stape.io', 'shop.stape.io'],
  ['stape.io', null],
  ['localhost', null],
  ['192.0.2.1', null],
  ['[2001:db8::1]', null],
  ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
]
for (const [host, domain] of DOMAINS) {
  test(`the registrable domain of ${host} is ${domain}`, () => assert.equal(registrableDomain(host), domain))
}

const PARTIES: readonly [site: string, tagServer: string, isFirstParty: boolean | null][] = [
  ['https://www.example.com', 'https://sst.example.com', true],
  ['https://www.example.com', 'https://www.example.com/metrics', true],
  ['https://example.co.uk', 'https://sst.example.co.uk', true],
  ['https://example.co.uk', 'https://sst.other.co.uk', false],
  ['https://example.com', 'https://example.net', false],
  ['https://example.com', 'https://abc-uc.a.run.app', false],
  ['https://one.myshopify.com', 'https://two.myshopify.com', false],
  ['http://127.0.0.1:1', 'http://127.0.0.1:2', true],
  ['https://example.com', 'http://127.0.0.1:2', null],
  ['http://intranet', 'http://tags', null],
]
for (const [site, tagServer, isFirstParty] of PARTIES) {
  test(`${tagServer} is ${isFirstParty === null ? 'not judged' : isFirstParty ? 'first-party' : 'third-party'} at ${site}`, () => {
    assert.equal(firstParty(site, tagServer).isFirstParty, isFirstParty)
  })
}
