import type { ReactNode } from 'react'
import classes from './figures.module.css'

/** Drawings of Tag Manager's screens: they follow the theme, need no picture files, and say what the text beside them says. */
function Screen({ title, children }: { title: string; children: ReactNode }) {
  return (
    <svg className={classes.screen} viewBox="0 0 260 132" aria-hidden="true">
      <rect className={classes.ground} x="0.5" y="0.5" width="259" height="131" rx="6" />
      <path className={classes.line} d="M0 26.5H260" />
      <text className={classes.title} x="12" y="18">
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
      <text className={classes.label} x="12" y={y}>
        {label}
      </text>
      <rect className={classes.field} x="112" y={y - 13} width="136" height="19" rx="3" />
      <text className={classes.value} x="119" y={y}>
        {value}
      </text>
    </>
  )
}

export function ImportFigure() {
  return (
    <Screen title="Template Editor">
      <path className={classes.line} d="M84.5 26V132" />
      <text className={classes.label} x="12" y="52">
        Tags
      </text>
      <text className={classes.label} x="12" y="76">
        Triggers
      </text>
      <rect className={classes.accentSoft} x="6" y="86" width="72" height="20" rx="3" />
      <text className={classes.accentText} x="12" y="100">
        Templates
      </text>
      <circle className={classes.dot} cx="244" cy="9" r="1.6" />
      <circle className={classes.dot} cx="244" cy="14" r="1.6" />
      <circle className={classes.dot} cx="244" cy="19" r="1.6" />
      <rect className={classes.field} x="142" y="34" width="106" height="78" rx="4" />
      <rect className={classes.accentSoft} x="143" y="40" width="104" height="22" />
      <text className={classes.accentText} x="154" y="55">
        Import
      </text>
      <text className={classes.label} x="154" y="79">
        Export
      </text>
      <text className={classes.label} x="154" y="101">
        Delete
      </text>
    </Screen>
  )
}

export function TagFigure() {
  return (
    <Screen title="Tagwarden Monitoring">
      <Field y={50} label="Ingest endpoint" value="https://…/ingest" />
      <Field y={77} label="Ingest key" value="••••••••••••" />
      <path className={classes.line} d="M0 92.5H260" />
      <text className={classes.label} x="12" y="116">
        Triggering
      </text>
      <rect className={classes.accentSoft} x="112" y="101" width="88" height="22" rx="11" />
      <circle className={classes.accentDot} cx="124" cy="112" r="4" />
      <text className={classes.accentText} x="134" y="116">
        All events
      </text>
    </Screen>
  )
}

export function ExcludeFigure() {
  return (
    <Screen title="Tagwarden Monitoring">
      <rect className={classes.field} x="12" y="36" width="236" height="22" rx="11" />
      <text className={classes.value} x="24" y="51">
        …/workspaces/7/tags/
      </text>
      <rect className={classes.accentSoft} x="157" y="39" width="24" height="16" rx="3" />
      <text className={classes.accentText} x="162" y="51">
        42
      </text>
      <text className={classes.label} x="12" y="80">
        Tags to exclude from monitoring
      </text>
      <rect className={classes.field} x="12" y="90" width="236" height="28" rx="3" />
      <text className={classes.label} x="22" y="108">
        Tag ID
      </text>
      <rect className={classes.accentSoft} x="78" y="96" width="28" height="16" rx="3" />
      <text className={classes.accentText} x="85" y="108">
        42
      </text>
    </Screen>
  )
}

export function NameFigure() {
  return (
    <Screen title="Additional Tag Metadata">
      <rect className={classes.accentDot} x="12" y="41" width="14" height="14" rx="3" />
      <path className={classes.check} d="M15 48l3 3 5-6" />
      <text className={classes.value} x="34" y="52">
        Include tag name
      </text>
      <Field y={86} label="Key for tag name" value="name" />
    </Screen>
  )
}
