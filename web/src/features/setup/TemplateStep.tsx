import { Button } from '@mantine/core'
import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { type SiteRecord, templateUrl } from '../../api/sites.ts'
import figures from './figures.module.css'
import type { IngestAddress } from './ingest.ts'
import { SetupStep } from './KeyStep.tsx'
import classes from './setup.module.css'

interface Props {
  site: SiteRecord
  ingest: IngestAddress
  mayChange: boolean
}

/** The tag template, and how it gets into the container. */
export function TemplateStep({ site, ingest, mayChange }: Props) {
  const [isDownloaded, setDownloaded] = useState(false)
  const isInstalled = site.last_event_at !== null
  return (
    <SetupStep
      number={1}
      title="Add the tag to the server container"
      state={isDownloaded || isInstalled ? 'done' : 'open'}
      word={isDownloaded ? 'downloaded' : isInstalled ? 'events arrive' : 'to do'}
    >
      {mayChange ? (
        <div className={classes.line}>
          <Button
            component="a"
            href={templateUrl(site.id)}
            download
            leftSection={<Download size={16} aria-hidden />}
            onClick={() => setDownloaded(true)}
          >
            Download the template
          </Button>
          <span className={classes.muted}>
            {ingest.isHttps
              ? "It holds this site's endpoint and key: keep it secret."
              : "It holds this site's key: treat it like one. The endpoint is left empty, as the tag accepts https:// only."}
          </span>
        </div>
      ) : (
        <p className={classes.muted}>
          An editor of the client downloads the template here: it holds the key of the site.
        </p>
      )}
      <ol className={classes.figures}>
        <Part figure={<ImportFigure />} title="Import it">
          In the <b>server</b> container: Templates → Tag Templates → New → the menu with three dots → Import. Save.
        </Part>
        <Part figure={<TagFigure />} title="Create the tag">
          Tags → New → <i>Tagwarden Monitoring</i>. Trigger: a new one of the type Custom that fires on{' '}
          <b>all events</b>. Save.
        </Part>
        <Part figure={<ExcludeFigure />} title="Exclude the tag itself">
          Its id is the number after <code>/tags/</code> in the address bar. Add it to{' '}
          <i>Tags to exclude from monitoring</i>.
        </Part>
        <Part figure={<NameFigure />} title="Turn on tag names">
          On every tag: Advanced Settings → Additional Tag Metadata → <b>Include tag name</b>, with the key{' '}
          <code>name</code>.
        </Part>
      </ol>
      <p className={classes.muted}>
        Then check it in Preview: the request to the endpoint is answered with 200. Publish the container.
      </p>
    </SetupStep>
  )
}

function Part({ figure, title, children }: { figure: ReactNode; title: string; children: ReactNode }) {
  return (
    <li className={classes.part}>
      {figure}
      <h3>{title}</h3>
      <p>{children}</p>
    </li>
  )
}

/** A drawing of a Tag Manager screen: it follows the theme, needs no image file, and shows what the text beside it says. */
function Screen({ title, children }: { title: string; children: ReactNode }) {
  return (
    <svg className={figures.screen} viewBox="0 0 260 132" aria-hidden="true">
      <rect className={figures.ground} x="0.5" y="0.5" width="259" height="131" rx="6" />
      <path className={figures.line} d="M0 26.5H260" />
      <text className={figures.title} x="12" y="18">
        {title}
      </text>
      {children}
    </svg>
  )
}

interface FieldProps {
  y: number
  label: string
  value: string
}

function Field({ y, label, value }: FieldProps) {
  return (
    <>
      <text className={figures.label} x="12" y={y}>
        {label}
      </text>
      <rect className={figures.field} x="112" y={y - 13} width="136" height="19" rx="3" />
      <text className={figures.value} x="119" y={y}>
        {value}
      </text>
    </>
  )
}

function ImportFigure() {
  return (
    <Screen title="Template Editor">
      <path className={figures.line} d="M84.5 26V132" />
      <text className={figures.label} x="12" y="52">
        Tags
      </text>
      <text className={figures.label} x="12" y="76">
        Triggers
      </text>
      <rect className={figures.accentSoft} x="6" y="86" width="72" height="20" rx="3" />
      <text className={figures.accentText} x="12" y="100">
        Templates
      </text>
      <circle className={figures.dot} cx="244" cy="9" r="1.6" />
      <circle className={figures.dot} cx="244" cy="14" r="1.6" />
      <circle className={figures.dot} cx="244" cy="19" r="1.6" />
      <rect className={figures.field} x="142" y="34" width="106" height="78" rx="4" />
      <rect className={figures.accentSoft} x="143" y="40" width="104" height="22" />
      <text className={figures.accentText} x="154" y="55">
        Import
      </text>
      <text className={figures.label} x="154" y="79">
        Export
      </text>
      <text className={figures.label} x="154" y="101">
        Delete
      </text>
    </Screen>
  )
}

function TagFigure() {
  return (
    <Screen title="Tagwarden Monitoring">
      <Field y={50} label="Ingest endpoint" value="https://…/ingest" />
      <Field y={77} label="Ingest key" value="••••••••••••" />
      <path className={figures.line} d="M0 92.5H260" />
      <text className={figures.label} x="12" y="116">
        Triggering
      </text>
      <rect className={figures.accentSoft} x="112" y="101" width="88" height="22" rx="11" />
      <circle className={figures.accentDot} cx="124" cy="112" r="4" />
      <text className={figures.accentText} x="134" y="116">
        All events
      </text>
    </Screen>
  )
}

function ExcludeFigure() {
  return (
    <Screen title="Tagwarden Monitoring">
      <rect className={figures.field} x="12" y="36" width="236" height="22" rx="11" />
      <text className={figures.value} x="24" y="51">
        …/workspaces/7/tags/
      </text>
      <rect className={figures.accentSoft} x="157" y="39" width="24" height="16" rx="3" />
      <text className={figures.accentText} x="162" y="51">
        42
      </text>
      <text className={figures.label} x="12" y="80">
        Tags to exclude from monitoring
      </text>
      <rect className={figures.field} x="12" y="90" width="236" height="28" rx="3" />
      <text className={figures.label} x="22" y="108">
        Tag ID
      </text>
      <rect className={figures.accentSoft} x="78" y="96" width="28" height="16" rx="3" />
      <text className={figures.accentText} x="85" y="108">
        42
      </text>
    </Screen>
  )
}

function NameFigure() {
  return (
    <Screen title="Additional Tag Metadata">
      <rect className={figures.accentDot} x="12" y="41" width="14" height="14" rx="3" />
      <path className={figures.check} d="M15 48l3 3 5-6" />
      <text className={figures.value} x="34" y="52">
        Include tag name
      </text>
      <Field y={86} label="Key for tag name" value="name" />
    </Screen>
  )
}
