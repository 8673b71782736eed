import { fingerprintOf } from '../../lib/index.ts'
import type { JsonObject, ProbeRecord, UpdateProbe } from '../../probes/index.ts'
import { type FieldChange, Ref } from './change.ts'
import { canonical, differing, fieldChange } from './fields.ts'
import { planMaintenance } from './plan-of-client.ts'
import type { Owner, Planning } from './planning.ts'
import type { PresentProbe } from './present.ts'
import {
  checkInterval,
  checkSettings,
  givenSettings,
  type SiteFields,
  secretsOf,
  secretsSentTo,
  unmetNeeds,
  usualSetting,
} from './probe-settings.ts'
import type { WantedProbe } from './wanted.ts'

export function planProbes(
  planning: Planning,
  site: Owner,
  fields: SiteFields,
  wanted: readonly WantedProbe[] | null,
  present: readonly PresentProbe[],
): void {
  if (wanted === null) return
  const { pairs, rest } = planning.match('probe', wanted, present, ({ record }) => record.name)
  for (const pair of pairs) planProbe(planning, site, fields, pair.wanted, pair.present)
  for (const { record } of rest) {
    planning.leave(`probe “${record.name}” of ${site.name}`, `/api/probes/${record.id}`, ', with its results')
  }
}

function planProbe(
  planning: Planning,
  site: Owner,
  ofSite: SiteFields,
  wanted: WantedProbe,
  present: PresentProbe | null,
): void {
  const { source, type, name, label } = wanted
  const what = `probe “${label}” of ${site.name}`
  const ref = new Ref(present?.record.id ?? null)
  const { config = {}, ...fields } = wanted.fields as UpdateProbe
  if (present === null) {
    const needs = unmetNeeds(type, ofSite)
    if (needs !== null) planning.problems.push(source.at('type').problem(`${type} needs a site with ${needs}`))
    planning.check(source, () => checkSettings(type, {}, config))
    planning.check(source, () => checkInterval(type, fields.interval_seconds))
    planning.create({
      ...{ what, creates: 'probe', stage: 'probes', source, ref, path: '/api/probes' },
      body: () => ({ site_id: site.ref.id, probe_type: type, name, ...wanted.fields }),
    })
  } else if (present.record.probe_type !== type) {
    const found = present.record.probe_type
    planning.problems.push(
      source.at('type').problem(`${what} is of type ${found}, which cannot change: give it another name`),
    )
  } else {
    changeProbe(planning, wanted, what, present.record, { ...fields, name }, config)
  }
  const owner: Owner = { ref, name: `“${label}” (${site.name})`, scope: 'probe_id' }
  planMaintenance(planning, owner, wanted.maintenance, present?.maintenance ?? [])
}

function changeProbe(
  planning: Planning,
  { source, type }: WantedProbe,
  what: string,
  record: ProbeRecord,
  fields: Readonly<Record<string, unknown>>,
  config: JsonObject,
): void {
  const names = differing(fields, { ...record })
  const settings = Object.keys(config).filter((name) => isAnother(record, name, config[name]))
  const changes: FieldChange[] = [
    ...names.map((name) => fieldChange(name, Reflect.get(record, name), fields[name], source.at(name))),
    ...settings.map((name) => {
      const isSecret = secretsOf(type).includes(name)
      const before = isSecret ? record.secret_fingerprints[name] : record.config[name]
      return fieldChange(`config.${name}`, before, config[name], source.at('config', name), isSecret)
    }),
  ]
  const path = `/api/probes/${record.id}`
  if (names.includes('interval_seconds')) planning.check(source, () => checkInterval(type, fields.interval_seconds))
  // The API asks for a secret again, even the same one, when the address that it is sent to changes.
  const along = secretsSentTo(type, settings).filter((name) => name in config && !settings.includes(name))
  const patch = Object.fromEntries([...settings, ...along].map((name) => [name, config[name] ?? null]))
  if (settings.length > 0) planning.check(source, () => checkSettings(type, givenSettings(record), patch))
  planning.update({
    ...{ what, stage: 'probes', source, path, record: { ...record } },
    names: settings.length === 0 ? names : [...names, 'config', 'secret_fingerprints'],
    body: {
      ...Object.fromEntries(names.map((name) => [name, fields[name]])),
      ...(settings.length === 0 ? {} : { config: patch }),
    },
    fields: changes,
    read: () => planning.api.get(path),
    among: `/api/probes?site_id=${record.site_id}`,
  })
}

/** Whether the setting would change; null resets it to its default. */
function isAnother(
  { id, probe_type, config, secret_fingerprints }: ProbeRecord,
  name: string,
  wanted: unknown,
): boolean {
  if (secretsOf(probe_type).includes(name)) {
    return (wanted === null ? undefined : fingerprintOf(id, String(wanted))) !== secret_fingerprints[name]
  }
  return canonical(wanted ?? usualSetting(probe_type, name)) !== canonical(config[name])
}
