import type { Scope, SilenceTarget } from './quiet.ts'

/** What can be kept quiet from where an alert stands. */
export interface SilenceScope {
  key: 'subject' | 'probe' | 'site'
  /** "This tag: Meta CAPI" */
  label: string
  scope: Scope
}

const NONE: Scope = { client_id: null, site_id: null, probe_id: null }

/** From the narrowest to the widest. What a probe judges as a whole has no tag, event or field of its own. */
export function silenceScopes({ site_id, probe_id, subject_key, subject_label = null }: SilenceTarget): SilenceScope[] {
  const own: SilenceScope[] =
    subject_key === undefined || subject_label === null
      ? []
      : [
          {
            key: 'subject',
            label: `${kindOf(subject_key)} ${subject_label}`,
            scope: { ...NONE, probe_id, subject_key },
          },
        ]
  return [
    ...own,
    { key: 'probe', label: own.length === 0 ? 'This check' : 'All of this check', scope: { ...NONE, probe_id } },
    { key: 'site', label: 'The whole site', scope: { ...NONE, site_id } },
  ]
}

/** A key names one thing (`tag:"Meta CAPI"`), several (`tag:…,event:…`), or is a hash of very long names. */
function kindOf(key: string): string {
  const [, kind] = /^(tag|event|field):"(?:[^"\\]|\\.)*"$/.exec(key) ?? []
  return kind === undefined ? 'Only' : `This ${kind}:`
}
