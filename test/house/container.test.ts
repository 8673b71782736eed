import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { REPOSITORY } from '../../testkit/repository.ts'

const text = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8')

interface Service {
  image?: string
  build?: string
  read_only?: boolean
  tmpfs?: string[]
  cap_drop?: string[]
  cap_add?: string[]
  security_opt?: string[]
  privileged?: boolean
  network_mode?: string
  ports?: string[]
  environment?: Record<string, string>
}

/** One variable names the released image; without it the name is one that no registry gives out. */
const IMAGE = `\${TAGWARDEN_IMAGE:-localhost/tagwarden}`

const COMPOSE_FILES = ['compose.yaml', 'deploy/compose.postgres.yaml']
const servicesOf = (path: string): [name: string, service: Service][] =>
  Object.entries((parse(text(path), { merge: true }) as { services: Record<string, Service> }).services)

/** Rights of root that a service keeps, and no other does. */
const KEPT_RIGHTS: Readonly<Record<string, readonly string[]>> = {
  caddy: ['NET_BIND_SERVICE'],
  postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
}

for (const path of COMPOSE_FILES) {
  for (const [name, service] of servicesOf(path)) {
    test(`${name} in ${path} has no right that it does not need`, () => {
      assert.deepEqual(service.cap_drop, ['ALL'])
      assert.deepEqual(service.cap_add ?? [], KEPT_RIGHTS[name] ?? [])
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'])
      assert.deepEqual([service.privileged, service.network_mode], [undefined, undefined])
    })

    test(`${name} in ${path} is reached only by whom it is for`, () => {
      if (name === 'caddy') assert.deepEqual(service.ports, ['80:80', '443:443', '443:443/udp'])
      else assert.equal(service.ports, undefined)
    })

    test(`${name} in ${path} has no secret written into the file`, () => {
      for (const [variable, value] of Object.entries(service.environment ?? {})) {
        if (/TOKEN|PASSWORD|SECRET|DATABASE_URL/.test(variable)) assert.match(value, /\$\{\w+:\?/, variable)
      }
    })
  }

  test(`Tagwarden and Caddy in ${path} cannot write to their own files`, () => {
    const services = servicesOf(path).filter(([name]) => name !== 'postgres')
    assert.ok(services.length >= 2)
    for (const [name, service] of services) {
      assert.equal(service.read_only, true, name)
      if (service.build !== undefined) {
        assert.equal(service.image, IMAGE, name)
        assert.deepEqual(service.tmpfs, ['/tmp', '/app/node_modules/.cache/tagwarden'], name)
      }
    }
  })
}

test('/metrics, which needs no key, is kept from strangers by both proxies', () => {
  for (const path of ['deploy/Caddyfile', 'deploy/Caddyfile.postgres']) {
    assert.match(text(path), /^\trespond \/metrics 404$/m, path)
  }
})

const stages = text('Dockerfile').split(/^(?=FROM )/m)
const last = stages.at(-1) ?? ''

test('the image has nothing but Node, what it loads and the package: no shell, no package manager', () => {
  assert.match(last, /^FROM scratch$/m)
  assert.doesNotMatch(last, /^(RUN|ADD) /m)
})

test('the image runs as a user of its own, by number, and nothing is done after it as root', () => {
  assert.match(last, /^USER 1000:1000$/m)
  const after = last.slice(last.indexOf('USER 1000:1000'))
  assert.doesNotMatch(after, /^(RUN|COPY|ADD) /m)
})

test('every image is pinned by its content, and every action of the build server by its commit', () => {
  const images = [
    ...[...text('Dockerfile').matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, image]) => image),
    ...COMPOSE_FILES.flatMap((path) => servicesOf(path).flatMap(([, { image }]) => image ?? [])),
  ].filter((image) => image !== 'scratch' && image !== IMAGE)
  assert.equal(images.length, 5)
  for (const image of images) assert.match(image ?? '', /^[a-z]+:[\d.]+[a-z-]*@sha256:[0-9a-f]{64}$/)
  const actions = ['ci', 'nightly', 'release'].flatMap((name) =>
    [...text(`.github/workflows/${name}.yml`).matchAll(/uses: (.*)$/gm)].map(([, action]) => action),
  )
  assert.ok(actions.length >= 7)
  for (const action of actions) assert.match(action ?? '', /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
})

test('the image says when it is not well, and stops by the signal that finishes what is under way', () => {
  assert.match(last, /^HEALTHCHECK .*\\\n {2}CMD \[.*\/health/m)
  assert.match(last, /^STOPSIGNAL SIGTERM$/m)
  // A shell in between would get the signal, and keep it.
  assert.match(last, /^CMD \["node", /m)
})

test('the image is made of what is locked, without running what packages bring', () => {
  const installs = [...text('Dockerfile').matchAll(/npm (ci|install)[^\n&]*/g)].map(([command]) => command.trim())
  assert.deepEqual(installs, ['npm ci --ignore-scripts'])
  assert.doesNotMatch(text('Dockerfile'), /curl|wget|^ADD /m)
})

test('no secret is built into the image, and nothing but what is named gets into it', () => {
  assert.doesNotMatch(text('Dockerfile'), /TOKEN|PASSWORD|SECRET|^ARG /m)
  const [first, ...others] = text('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  assert.equal(first, '*')
  for (const line of others.filter((entry) => entry.startsWith('!')))
    assert.doesNotMatch(line, /\.env|data|\.git\b|test/)
})
