import { t } from '../../messages/messages.ts';
import type { ArtworkSize } from '../../parts/artwork-address.ts';
import { Card } from '../../parts/card.tsx';
import { ArtworkField } from '../../parts/form/artwork-field.tsx';
import { FieldGrid, Wide } from '../../parts/form/field-grid.tsx';
import { CheckField, SelectField, TextField } from '../../parts/form/fields.tsx';
import { NotesField } from '../../parts/form/notes-field.tsx';
import type { Form } from '../../parts/form/use-form.ts';
import { languageName } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import { CategoryField } from './category-field.tsx';
import { descriptionBytesMax, type PodcastValues } from './podcast-form.ts';

/** Languages that are offered; any other tag can be typed. */
const offered = [
  ...[
    'ar',
    'cs',
    'da',
    'de',
    'de-AT',
    'de-CH',
    'el',
    'en',
    'en-GB',
    'en-US',
    'es',
    'fi',
    'fr',
    'he',
    'hi',
    'hu',
    'it',
    'ja',
  ],
  ...['ko', 'nb', 'nl', 'pl', 'pt', 'pt-BR', 'ro', 'ru', 'sv', 'tr', 'uk', 'zh'],
];

interface FieldsProps {
  readonly form: Form<PodcastValues>;
  readonly artwork?: readonly ArtworkSize[] | undefined;
}

function WhatListenersSee({ form, artwork }: FieldsProps) {
  const { values } = form.state;
  return (
    <Card title={t('settings.what')} basis={t('settings.what_basis')}>
      <FieldGrid>
        <Wide>
          <TextField form={form} name="title" label="details.title" required voice maxLength={255} />
        </Wide>
        <NotesField
          form={form}
          name="description"
          label="details.description"
          bytesMax={descriptionBytesMax}
          lang={values.language}
        />
        <Wide>
          <ArtworkField form={form} name="artwork_url" label="details.artwork" current={artwork} title={values.title} />
        </Wide>
      </FieldGrid>
    </Card>
  );
}

function ForDirectories({ form }: Pick<FieldsProps, 'form'>) {
  const { language } = usePlace();
  const { values } = form.state;
  return (
    <Card title={t('settings.directories')} basis={t('settings.directories_basis')}>
      <FieldGrid>
        <TextField
          form={form}
          name="language"
          label="details.language"
          hint={languageName(values.language || 'und', language)}
          required
          list="languages"
        />
        <datalist id="languages">
          {offered.map((tag) => (
            <option key={tag} value={tag}>
              {languageName(tag, language)}
            </option>
          ))}
        </datalist>
        <CategoryField form={form} />
        <TextField form={form} name="author" label="details.author" maxLength={255} />
        <TextField
          form={form}
          name="owner_name"
          label="details.owner_name"
          hint={t('settings.owner_hint')}
          maxLength={255}
        />
        <TextField
          form={form}
          name="owner_email"
          label="details.owner_email"
          hint={t('settings.email_hint')}
          type="email"
          inputMode="email"
          maxLength={255}
        />
        <TextField form={form} name="link" label="details.website" type="url" inputMode="url" maxLength={2000} />
        <TextField form={form} name="copyright" label="details.copyright" maxLength={255} />
        <SelectField
          form={form}
          name="type"
          label="details.type"
          hint={t('settings.type_hint')}
          choices={(['episodic', 'serial'] as const).map((value) => ({ value, name: t(`podcast_type.${value}`) }))}
        />
        <CheckField form={form} name="explicit" label="details.explicit" hint={t('settings.explicit_hint')} />
      </FieldGrid>
    </Card>
  );
}

/** Every field of a podcast that its pages change, what listeners see before what directories ask for. */
export const PodcastFields = ({ form, artwork }: FieldsProps) => (
  <>
    <WhatListenersSee form={form} artwork={artwork} />
    <ForDirectories form={form} />
  </>
);
