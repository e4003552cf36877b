import { categories } from '../../generated/categories.ts';
import { t } from '../../messages/messages.ts';
import { Field } from '../../parts/field.tsx';
import { faultText } from '../../parts/form/fields.tsx';
import type { Form } from '../../parts/form/use-form.ts';
import type { PodcastValues } from './podcast-form.ts';

const most = 3;
const names = ['details.category', 'details.category_2', 'details.category_3'] as const;

/** Up to three categories of Apple Podcasts, the first of which counts most. Their names are Apple's, in English. */
export function CategoryField({ form }: { readonly form: Form<PodcastValues> }) {
  const chosen = form.state.values.categories;
  const choose = (place: number, value: string) => {
    const next = [...chosen.slice(0, place), value, ...chosen.slice(place + 1)];
    form.set('categories', [...new Set(next.filter(Boolean))]);
  };
  return names.slice(0, Math.min(most, chosen.length + 1)).map((name, place) => (
    <Field key={name} label={t(name)} error={place === 0 ? faultText(form.faultOf('categories')) : undefined}>
      {(control) => (
        <select {...control} value={chosen[place] ?? ''} onChange={(event) => choose(place, event.target.value)}>
          <option value="">{t('details.no_category')}</option>
          {categories.map((category) => (
            <option key={category} value={category} lang="en">
              {category}
            </option>
          ))}
        </select>
      )}
    </Field>
  ));
}
