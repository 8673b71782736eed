import { type Static, Type } from 'typebox'
import { EXPECTS } from '../../http/index.ts'
import type { ErrorDetail } from '../../lib/index.ts'
import { askAddress, askProviderA, type ImageAnswer } from '../image-version/ask.ts'
import { judgeImage } from '../image-version/judge.ts'
import {
  type DeployMarker,
  defineProbeType,
  isNetworkFailure,
  type ProbeContext,
  type ProbeOutcome,
  SecretText,
} from '../probe-type.ts'
import { PROVIDER_A_SETTINGS } from '../tag-server/hosting-a.ts'

const Config = Type.Object(
  {
    version_url: Type.Optional(
      Type.String({
        pattern: '^https?://',
        [EXPECTS]: 'an address that begins with https:// or http://',
        maxLength: 2_048,
        description:
          'Address that answers with the version, like 4.2.0, or with the name of the image; without it, hosting provider A is asked',
      }),
    ),
    version_token: SecretText('Bearer token for version_url, which must then be https'),
    json_pointer: Type.Optional(
      Type.String({
        pattern: '^(/([^/~]|~[01])*)+$',
        [EXPECTS]: 'a JSON pointer like /server/image',
        maxLength: 300,
        description: 'JSON pointer to the version in a JSON answer, e.g. /server/image or /items/0/version',
      }),
    ),
    max_behind_days: Type.Integer({
      minimum: 30,
      maximum: 3_650,
      default: 365,
      description: 'Warn when the newest release appeared this long after the running one',
    }),
    ...PROVIDER_A_SETTINGS,
  },
  { additionalProperties: false },
)

type Settings = Static<typeof Config>

export const imageVersion = defineProbeType({
  name: 'image_version',
  title: 'Tag server image',
  description: 'How far the image of the tag server is behind the newest release, and which releases lie between.',
  kind: 'wire',
  siteFields: ['hosting_a_container_id'],
  needs: [],
  // Hosts rarely report it, and only people know an address of their own that does.
  autoNeeds: null,
  config: Config,
  secretsSentTo: { version_token: 'version_url' },
  checkConfig,
  defaultIntervalSeconds: 3_600,
  minIntervalSeconds: 300,
  async run(context: ProbeContext<Settings>): Promise<ProbeOutcome> {
    const { config, memory, now } = context
    const image = await askImage(context)
    if (image.version === null) {
      const { why, reason, source, thrown } = image
      return {
        status: 'error',
        message: why,
        details: { reason, source },
        isNetworkFailure: isNetworkFailure(thrown),
      }
    }
    const { version, source, tookMs } = image
    const { status, message, details } = judgeImage(version, config.max_behind_days, now)
    const { version: before, source: sourceBefore = source } = memory
    // Another server's version is no deploy.
    const marker: DeployMarker[] =
      typeof before === 'string' && before !== version && sourceBefore === source
        ? [{ source: 'tag server image', fromVersion: before, toVersion: version }]
        : []
    return {
      status,
      message,
      details: { ...details, source },
      responseTimeMs: tookMs,
      memory: { ...image.memory, version, source },
      deployMarkers: marker,
    }
  },
})

async function askImage(context: ProbeContext<Settings>): Promise<ImageAnswer> {
  const { site, config, settings, memory, outbound, timeoutMs, signal, now } = context
  const { version_url: url, json_pointer: pointer } = config
  const caller = { outbound, timeoutMs, signal, now }
  if (url !== undefined) return askAddress(caller, { url, token: config.version_token, pointer })
  const containerId = site.hosting_a_container_id
  const token = config.hosting_a_token ?? settings.hostingAToken
  if (containerId === null) {
    return noSource(
      'Nothing reports the version of the image: set version_url, or give the site a hosting_a_container_id',
    )
  }
  if (token === null) {
    return noSource(
      'Hosting provider A cannot be queried without a key: set HOSTING_A_TOKEN, hosting_a_token of this probe, or version_url',
    )
  }
  const workspace = config.hosting_a_workspace
  return askProviderA(caller, { containerId, apiUrl: settings.hostingAApiUrl, token, workspace, memory, pointer })
}

const noSource = (why: string): ImageAnswer => ({ version: null, reason: 'no_source', why, source: null })

function checkConfig({ version_url: url, version_token: token }: Settings): readonly ErrorDetail[] {
  if (url === undefined) return token === undefined ? [] : [{ path: '/version_token', message: 'needs a version_url' }]
  const target = URL.parse(url)
  if (target === null || target.username !== '' || target.password !== '') {
    const message = 'must be an address like https://host.example/version, without a user name or password'
    return [{ path: '/version_url', message }]
  }
  if (token === undefined) return []
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return [{ path: '/version_token', message: 'must be of visible ASCII characters, without spaces' }]
  }
  const isHttps = target.protocol === 'https:'
  return isHttps ? [] : [{ path: '/version_url', message: 'must be https, as version_token is sent to it' }]
}
