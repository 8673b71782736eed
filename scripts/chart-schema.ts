import { SETTINGS } from '../src/config.ts'

/** What the chart says to each pod itself, or has a value of its own for. */
export const OWN_SETTINGS = ['HOST', 'PORT', 'DATA_DIR', 'PUBLIC_URL', 'TRUST_PROXY', 'ROLE']

const text = { type: 'string' }
const truth = { type: 'boolean' }
const texts = { type: 'object', additionalProperties: text }
const anything = { type: 'object' }
const list = (items: object) => ({ type: 'array', items })
/** Nothing but these: a typing error is an error, and no value that does nothing. */
const exactly = (properties: Record<string, object>) => ({ type: 'object', additionalProperties: false, properties })

/** The settings that are secret, or those that are not, by their names. */
function settings(isSecret: boolean): Record<string, object> {
  const value = isSecret ? { type: 'string' } : { type: ['string', 'integer', 'boolean'] }
  return Object.fromEntries(
    Object.values(SETTINGS)
      .filter(({ name, secret }) => secret === isSecret && !OWN_SETTINGS.includes(name))
      .map(({ name, meaning }) => [name, { ...value, description: meaning }]),
  )
}

/** What Helm lets into the chart's values. */
export const chartSchema = (): object => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Values of the chart tagwarden',
  ...exactly({
    global: anything,
    image: exactly({
      repository: { type: 'string', pattern: '^[a-z0-9.:/_-]+$' },
      tag: text,
      digest: { type: 'string', pattern: '^(|sha256:[0-9a-f]{64})$' },
      pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
    }),
    imagePullSecrets: list(text),
    nameOverride: text,
    fullnameOverride: text,
    engine: { enum: ['sqlite', 'postgres'] },
    replicas: { type: 'integer', minimum: 1 },
    persistence: exactly({
      size: { type: 'string', pattern: '^[0-9.]+[KMGTP]i?$' },
      storageClass: text,
      existingClaim: text,
      annotations: texts,
    }),
    publicUrl: { type: 'string', pattern: '^(|https?://.+)$' },
    trustProxy: list(text),
    settings: exactly(settings(false)),
    secrets: exactly(settings(true)),
    existingSecret: text,
    service: exactly({
      type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
      port: { type: 'integer', minimum: 1, maximum: 65_535 },
      annotations: texts,
    }),
    ingress: exactly({
      enabled: truth,
      className: text,
      annotations: texts,
      host: text,
      tlsSecret: text,
      hideMetrics: truth,
    }),
    resources: anything,
    serviceMonitor: exactly({ enabled: truth, interval: { type: 'string', pattern: '^[0-9]+[smh]$' }, labels: texts }),
    podDisruptionBudget: exactly({ enabled: truth, maxUnavailable: { type: ['integer', 'string'] } }),
    networkPolicy: exactly({ enabled: truth, from: list(anything) }),
    serviceAccount: exactly({ create: truth, name: text, annotations: texts }),
    startupFailures: { type: 'integer', minimum: 1 },
    podAnnotations: texts,
    podLabels: texts,
    nodeSelector: texts,
    tolerations: list(anything),
    affinity: anything,
    topologySpreadConstraints: list(anything),
  }),
})
