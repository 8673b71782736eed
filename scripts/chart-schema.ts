import { SETTINGS } from '../src/config.ts'

/** Settings that the chart sets for each pod, or has its own value for. */
export const OWN_SETTINGS = ['HOST', 'PORT', 'DATA_DIR', 'PUBLIC_URL', 'TRUST_PROXY', 'ROLE']

const text = { type: 'string' }
const truth = { type: 'boolean' }
const texts = { type: 'object', additionalProperties: text }
const anything = { type: 'object' }
const list = (items: object) => ({ type: 'array', items })
/** A closed object, so that a typing error fails instead of having no effect. */
const exactly = (properties: Record<string, object>) => ({ type: 'object', additionalProperties: false, properties })

/** The schemas of the secret settings, or of the others, by name. */
function settings(isSecret: boolean): Record<string, object> {
  const value = isSecret ? { type: 'string' } : { type: ['string', 'integer', 'boolean'] }
  return Object.fromEntries(
    Object.values(SETTINGS)
      .filter(({ name, secret }) => secret === isSecret && !OWN_SETTINGS.includes(name))
      .map(({ name, meaning }) => [name, { ...value, description: meaning }]),
  )
}

/** The JSON Schema by which Helm checks the chart's values. */
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
