//! What others see of the user.

use hamlet_models::{Me, MeUpdate, Username};
use leptos::{ev::SubmitEvent, prelude::*, task::spawn_local};

use crate::{
    api::{
        ApiClient,
        error::{ClientError, sentence},
    },
    components::form::FormEnd,
    hooks::session::use_session,
    ui::field::{TextArea, TextField},
};

/// Username, bio, e-mail address, picture.
#[component]
pub fn ProfileForm(
    /// The profile as it is.
    me: Me,
) -> AnyView {
    let api = expect_context::<ApiClient>();
    let session = use_session();
    let before = me.user.username.clone();
    let username = RwSignal::new(before.as_ref().map(ToString::to_string).unwrap_or_default());
    let bio = RwSignal::new(me.user.bio.unwrap_or_default());
    let email = RwSignal::new(me.email.unwrap_or_default());
    let picture = RwSignal::new(me.user.profile_image_url.unwrap_or_default());

    let (busy, done) = (RwSignal::new(false), RwSignal::new(false));
    let error = RwSignal::<Option<ClientError>>::new(None);
    // What a rule of ours forbids is said before it is sent; what only the server knows, after.
    let problems = RwSignal::<Vec<(&'static str, String)>>::new(Vec::new());
    let wrong = move |field: &'static str| {
        Signal::derive(move || {
            let ours = problems.with(|problems| {
                problems
                    .iter()
                    .find(|(name, _)| *name == field)
                    .map(|(_, problem)| sentence(problem))
            });
            ours.or_else(|| error.with(|error| error.as_ref()?.field(field)))
        })
    };

    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let filled = |field: RwSignal<String>| {
            let text = field.get_untracked().trim().to_owned();
            Some((!text.is_empty()).then_some(text))
        };
        let mut update = MeUpdate {
            username: None,
            bio: filled(bio),
            email: filled(email),
            profile_image_url: filled(picture),
        };
        let mut found: Vec<_> = update
            .problems()
            .into_iter()
            .map(|(field, problem)| (field, problem.to_owned()))
            .collect();
        match username.get_untracked().trim().parse::<Username>() {
            Ok(name) => update.username = Some(name),
            Err(problem) => found.push(("username", problem.to_string())),
        }
        let fine = found.is_empty();
        problems.set(found);
        error.set(None);
        done.set(false);
        if !fine || busy.get_untracked() {
            return;
        }
        busy.set(true);
        spawn_local(async move {
            let answer = api.update_me(&update).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(me) => {
                    session.set(me);
                    done.set(true);
                }
                Err(refused) => error.set(Some(refused)),
            }
        });
    };

    view! {
        <form class="form" on:submit=submit>
            <TextField
                label="Username"
                value=username
                code=true
                autocomplete="username"
                hint="The addresses of your vals change with it."
                error=wrong("username")
            />
            <TextArea label="Bio" value=bio rows=3 error=wrong("bio") />
            <TextField
                label="E-mail address"
                value=email
                kind="email"
                autocomplete="email"
                hint="Only you see it."
                error=wrong("email")
            />
            <TextField
                label="Address of a picture"
                value=picture
                kind="url"
                autocomplete="photo"
                hint="Begins with https://."
                error=wrong("profileImageUrl")
            />
            <FormEnd verb="Save profile" busy error done done_word="Saved." fields=&["username", "bio", "email", "profileImageUrl"] />
        </form>
    }
    .into_any()
}
