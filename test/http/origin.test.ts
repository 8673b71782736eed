import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOwnHost, isOwnOrigin } from '../../src/http/access/gate.ts'

const PUBLIC = 'https://tagwarden.example.com/base'

const ORIGINS: [origin: string, host: string, publicUrl: string | null, isOwn: boolean][] = [
  ['https://tagwarden.example.com', '10.0.0.5:8080', PUBLIC, true],
  ['https://tagwarden.example.com:443', '10.0.0.5:8080', PUBLIC, true],
  ['http://tagwarden.example.com', '10.0.0.5:8080', PUBLIC, false],
  ['https://tagwarden.example.com:8443', '10.0.0.5:8080', PUBLIC, false],
  ['https://evil.example', '10.0.0.5:8080', PUBLIC, false],
  ['https://tagwarden.example.com.evil.example', 'tagwarden.example.com', PUBLIC, false],
  ['http://127.0.0.1:8080', '127.0.0.1:8080', null, true],
  ['http://127.0.0.1:3000', '127.0.0.1:8080', null, false],
  ['http://localhost:8080', '127.0.0.1:8080', null, false],
  ['https://proxied.example', 'proxied.example', null, true],
  ['https://proxied.example', 'proxied.example:443', null, true],
  ['null', '127.0.0.1:8080', null, false],
  ['', '127.0.0.1:8080', null, false],
  ['file://', '127.0.0.1:8080', null, false],
  ['chrome-extension://127.0.0.1:8080', '127.0.0.1:8080', null, false],
]
for (const [origin, host, publicUrl, isOwn] of ORIGINS) {
  test(`a page of "${origin}" is ${isOwn ? 'ours' : 'foreign'} at ${host} with PUBLIC_URL ${publicUrl}`, () => {
    assert.equal(isOwnOrigin(origin, host, publicUrl), isOwn)
  })
}

const HOSTS: [host: string, onLoopback: boolean, elsewhere: boolean][] = [
  ['127.0.0.1:8080', true, true],
  ['192.168.1.5', true, true],
  ['[::1]:8080', true, true],
  ['localhost:8080', true, true],
  ['LOCALHOST', true, true],
  ['localhost.', true, true],
  ['app.localhost:8080', true, true],
  ['tagwarden.example.com', true, true],
  ['TAGWARDEN.example.com:8080', true, true],
  ['', true, true],
  ['tagwarden:8080', false, true],
  ['box-7.office.example', false, true],
  ['box-7.office.example.local:8080', false, true],
  ['evil.example:8080', false, false],
  ['other.office.example', false, false],
  ['localhost.evil.example', false, false],
  ['127.0.0.1.evil.example', false, false],
  ['localhost@evil.example', false, false],
  ['evil.example/localhost', false, false],
  ['evil.example#localhost', false, false],
  ['[', false, false],
  ['.', false, false],
]
for (const [host, onLoopback, elsewhere] of HOSTS) {
  test(`the host "${host}" is ${onLoopback ? 'a name' : 'no name'} of a service on loopback, ${elsewhere ? 'one' : 'none'} elsewhere`, () => {
    const names = { publicUrl: PUBLIC, machine: 'Box-7.office.example' }
    assert.equal(isOwnHost(host, { ...names, listensOnLoopback: true }), onLoopback)
    assert.equal(isOwnHost(host, { ...names, listensOnLoopback: false }), elsewhere)
  })
}
