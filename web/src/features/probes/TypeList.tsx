import { UnstyledButton } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import type { ProbeRecord, ProbeTypeRecord } from '../../api/probes.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { fieldLabel, missingOf } from '../../lib/site-fields.ts'
import { counted } from '../../lib/words.ts'
import classes from './form.module.css'

interface Props {
  types: readonly ProbeTypeRecord[]
  site: SiteRecord
  probes: readonly ProbeRecord[]
  onPick: (type: string) => void
}

const KINDS = [
  {
    kind: 'data',
    title: 'What the site sends',
    text: 'Evaluates the events and tags it reports. No network requests.',
  },
  { kind: 'wire', title: 'What it depends on', text: 'Checks other systems over the network.' },
] as const

/** The types of probes, with what the site lacks for each. */
export function TypeList({ types, site, probes, onPick }: Props) {
  return KINDS.map(({ kind, title, text }) => (
    <Kind key={kind} title={title} text={text}>
      {types
        .filter((type) => type.kind === kind)
        .map((type) => (
          <li key={type.probe_type}>
            <UnstyledButton className={classes.type} onClick={() => onPick(type.probe_type)}>
              <span className={classes.typeTitle}>{type.title}</span>
              <span className={classes.muted}>{type.description}</span>
              <Notes
                missing={missingOf(type.needs, site).map((fields) => fields.map(fieldLabel).join(' and '))}
                count={probes.filter(({ probe_type }) => probe_type === type.probe_type).length}
              />
            </UnstyledButton>
          </li>
        ))}
    </Kind>
  ))
}

function Kind({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={classes.kind} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p className={classes.muted}>{text}</p>
      <ul className={classes.types}>{children}</ul>
    </section>
  )
}

function Notes({ missing, count }: { missing: readonly string[]; count: number }) {
  return (
    <>
      {count > 0 && <span className={classes.has}>The site has {counted(count, 'probe')} of this type</span>}
      {missing.length > 0 && <span className={classes.lacks}>Needs: {missing.join(', or ')}</span>}
    </>
  )
}
