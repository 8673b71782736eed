import { Button } from '@mantine/core'
import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { SiteRecord } from '../../api/site.ts'
import { templateUrl } from '../../api/sites.ts'
import { ExcludeFigure, ImportFigure, NameFigure, TagFigure } from './figures.tsx'
import type { IngestAddress } from './ingest.ts'
import { SetupStep } from './SetupStep.tsx'
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
      title="Put the tag into the server container"
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
              : "It holds this site's key: treat it like one. The endpoint is left empty, as the tag takes https:// only."}
          </span>
        </div>
      ) : (
        <p className={classes.muted}>An admin downloads the template here: it holds the key of the site.</p>
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
        <Part figure={<NameFigure />} title="Switch on the names">
          On every tag: Advanced Settings → Additional Tag Metadata → <b>Include tag name</b>, with the key{' '}
          <code>name</code>.
        </Part>
      </ol>
      <p className={classes.muted}>
        Then look at it in Preview: the request to the endpoint is answered with 200. Publish the container.
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
